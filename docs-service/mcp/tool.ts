import type { Static, TObject } from 'typebox';
import type { McpLibrary } from './mcpLibrary.ts';

/** A tool that a model can call. */
export interface Tool<Input extends TObject = TObject, Output extends TObject = TObject> {
  readonly name: string;
  readonly title: string;
  /** For the model. */
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  /** The arguments are valid. Throws ToolError. */
  call(args: Static<Input>, library: McpLibrary, signal: AbortSignal): Promise<Static<Output>>;
}

/** Derives the types of a tool's arguments and result from its schemas. */
export function defineTool<Input extends TObject, Output extends TObject>(
  tool: Tool<Input, Output>,
): Tool<Input, Output> {
  return tool;
}

/** A model's mistake, in a sentence that tells it what to do instead. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}
