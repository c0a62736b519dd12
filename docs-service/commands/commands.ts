import { backupCommand } from './backup.ts';
import { clientAddCommand, clientListCommand, clientRemoveCommand } from './client.ts';
import type { Command } from './command.ts';
import { connectCommand } from './connect.ts';
import { doctorCommand } from './doctor.ts';
import { indexCommand } from './indexCommand.ts';
import { mcpCommand } from './mcp.ts';
import { ownerSetPasswordCommand, ownerSetProfileCommand } from './owner.ts';
import { serveCommand } from './serve.ts';
import { tokenCreateCommand, tokenListCommand, tokenRevokeCommand } from './token.ts';

/** Every command of `runner-docs`, by its words. Without a command, the first one runs. */
export const commands = {
  serve: serveCommand,
  mcp: mcpCommand,
  index: indexCommand,
  'token create': tokenCreateCommand,
  'token list': tokenListCommand,
  'token revoke': tokenRevokeCommand,
  'owner set-password': ownerSetPasswordCommand,
  'owner set-profile': ownerSetProfileCommand,
  'client add': clientAddCommand,
  'client list': clientListCommand,
  'client remove': clientRemoveCommand,
  connect: connectCommand,
  backup: backupCommand,
  doctor: doctorCommand,
} as const satisfies Readonly<Record<string, Pick<Command, 'usage' | 'summary' | 'options' | 'words'>>>;
