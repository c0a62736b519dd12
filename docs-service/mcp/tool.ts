import type { Static, TObject } from 'typebox';
import type { McpLibrary } from './mcpLibrary.ts';

/** What a model can call. */
export interface Tool<Input extends TObject = TObject, Output extends TObject = TObject> {
  readonly name: string;
  readonly title: string;
  /** For the model. */
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  /** The arguments are checked. Throws ToolError. */
  call(args: Static<Input>, library: McpLibrary, signal: AbortSignal): Promise<Static<Output>>;
}

/** Lets a tool's schemas decide the types of its arguments and its result. */
export function defineTool<Input extends TObject, Output extends TObject>(
  tool: Tool<Input, Output>,
): Tool<Input, Output> {
  return tool;
}

/** What a model did wrong, in a sentence that tells it what to do instead. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}
