/** The version of everything in this folder, announced as `capabilities.experimental.runner.protocolVersion`. */
export const protocolVersion = 1;

/** What `runnerd` adds to the `initialize` result under `capabilities.experimental.runner`. */
export interface RunnerCapabilities {
  readonly protocolVersion: number;
  /**
   * True if an option, the environment or the user's configuration names the runner's address; otherwise the default
   * address is used.
   */
  readonly isHostNamed?: boolean;
  /**
   * Names of the tool servers in the user's own configuration, in their order, without the disabled ones. Empty if the
   * client has settings of its own.
   */
  readonly toolServers?: readonly string[];
}
