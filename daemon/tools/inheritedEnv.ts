const inherited = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'LANG', 'TMPDIR'];
/** Without these, programs do not start on Windows. */
const inheritedOnWindows = [
  ...[
    'APPDATA',
    'COMSPEC',
    'HOMEDRIVE',
    'HOMEPATH',
    'LOCALAPPDATA',
    'PATH',
    'PATHEXT',
    'PROCESSOR_ARCHITECTURE',
  ],
  ...[
    'PROGRAMDATA',
    'PROGRAMFILES',
    'PROGRAMFILES(X86)',
    'SYSTEMDRIVE',
    'SYSTEMROOT',
    'TEMP',
    'TMP',
    'USERNAME',
  ],
  ...['USERPROFILE', 'WINDIR'],
];

/** What a tool server gets of the daemon's environment: where things are and who the user is, and no secret. */
export function inheritedEnv(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): NodeJS.ProcessEnv {
  const names = new Set(platform === 'win32' ? [...inherited, ...inheritedOnWindows] : inherited);
  const isInherited = (name: string) =>
    names.has(platform === 'win32' ? name.toUpperCase() : name) || name.startsWith('LC_');
  return Object.fromEntries(Object.entries(env).filter(([name]) => isInherited(name)));
}
