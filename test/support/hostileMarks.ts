const script =
  '</title></style></h1><script>alert(1)</script><img src=x onerror=alert(1)>"><svg onload=alert(1)>';

/**
 * What an author who means no good writes into each field. None of it has a single quote, so that YAML can quote it.
 */
export const hostileMarks = {
  title: `Models ${script}`,
  type: '"><script>alert(2)</script>',
  tag: '"><img src=x onerror=alert(3)>',
  author: `\u202e${script}`,
  description: `${'W'.repeat(400)} ${script}`,
  body: `# Models ${script}

Words about models <a href="javascript:alert(1)" onclick="alert(1)">a link</a> ![x](https://tracker.example/x.png)
<img src="https://tracker.example/y.png"> <style>main { display: none }</style> <iframe src="https://tracker.example"></iframe>
[x](javascript:alert(1)) [y](/read/collections/../../docs) [z](data:text/html,x) <form action="https://tracker.example"><input name="q"></form>

${'a'.repeat(3_000)}

| ${'wide'.repeat(300)} | b |
|---|---|
| c | d |
`,
} as const;
