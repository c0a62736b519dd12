import * as z from 'zod/mini';
import type {
  Approvals,
  ApproveToolResult,
  FinishLoginParams,
  ListToolsParams,
  LoginParams,
} from '../../protocol/tools.ts';
import { exact, type Schema } from '../validate.ts';

export const listToolsSchema: Schema<ListToolsParams> = exact(
  z.object({ servers: z.exactOptional(z.array(z.string())) }),
);

export const loginSchema: Schema<LoginParams> = exact(z.object({ server: z.string() }));

export const finishLoginSchema: Schema<FinishLoginParams> = exact(
  z.object({ server: z.string(), redirectedTo: z.exactOptional(z.string()) }),
);

export const approvalsSchema: Schema<Approvals> = exact(
  z.record(
    z.string(),
    z.union([z.literal('always'), z.array(z.string())], 'it is neither "always" nor a list of tools'),
  ),
);

export const approveToolSchema: Schema<ApproveToolResult> = exact(
  z.object({ decision: z.enum(['once', 'session', 'always', 'deny']) }),
);
