import * as z from 'zod/mini';
import type {
  ApproveToolResult,
  FinishLoginParams,
  ListToolsParams,
  LoginParams,
} from '../../protocol/messages/tools.ts';
import { exact, type Schema } from '../base/validate.ts';

export const listToolsSchema: Schema<ListToolsParams> = exact(
  z.object({ servers: z.exactOptional(z.array(z.string())) }),
);

export const loginSchema: Schema<LoginParams> = exact(z.object({ server: z.string() }));

export const finishLoginSchema: Schema<FinishLoginParams> = exact(
  z.object({ server: z.string(), redirectedTo: z.exactOptional(z.string()) }),
);

export const approveToolSchema: Schema<ApproveToolResult> = exact(
  z.object({ decision: z.enum(['once', 'session', 'always', 'deny']) }),
);
