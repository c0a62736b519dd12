/** The packages of the library that have a native part, by Node's names of systems and processors. */
const packages: Readonly<Record<string, string>> = {
  'linux-x64': '@node-llama-cpp/linux-x64',
  'linux-arm64': '@node-llama-cpp/linux-arm64',
  'darwin-arm64': '@node-llama-cpp/mac-arm64-metal',
  'darwin-x64': '@node-llama-cpp/mac-x64',
  'win32-x64': '@node-llama-cpp/win-x64',
  'win32-arm64': '@node-llama-cpp/win-arm64',
};

/** What the native part for Linux was linked with. */
const neededGlibc = [2, 34] as const;

/** What is known of this machine. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  /** The version of glibc, such as `2.36`. Undefined on Linux: another C library, such as musl. */
  readonly glibc: string | undefined;
}

/** The native package for this machine, or why the library cannot run here. */
export function nativePackage({
  platform,
  arch,
  glibc,
}: Machine): { readonly name: string } | { readonly problem: string } {
  const name = packages[`${platform}-${arch}`];
  const others = 'A model server that you install yourself, such as Ollama, may run here.';
  if (name === undefined)
    return { problem: `Runner's own engine has no build for ${platform} on ${arch}. ${others}` };
  if (platform !== 'linux') return { name };
  const needed = neededGlibc.join('.');
  if (glibc === undefined)
    return {
      problem: `Runner's own engine needs glibc ${needed} or newer; this system has another C library, such as musl. ${others}`,
    };
  const [major = 0, minor = 0] = glibc.split('.').map(Number);
  const isNew = major > neededGlibc[0] || (major === neededGlibc[0] && minor >= neededGlibc[1]);
  return isNew
    ? { name }
    : { problem: `Runner's own engine needs glibc ${needed} or newer; this system has ${glibc}. ${others}` };
}

export function thisMachine(): Machine {
  const { platform, arch } = process;
  return { platform, arch, glibc: platform === 'linux' ? glibcVersion() : undefined };
}

function glibcVersion(): string | undefined {
  const { report } = process;
  // Names of the network's addresses would be looked up for the report.
  Object.assign(report, { excludeNetwork: true });
  const { header } = report.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime;
}
