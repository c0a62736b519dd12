/** Reasons for the end of a whole answer, as servers name them. An empty one comes from servers that name none. */
const whole =
  /^(?:|stop|stop_sequence|end_turn|eos|eos_token|word|none|tool_calls?|tool_use|function_call|load|unload)$/i;
/** Reasons for an end at a limit, such as `length`, `model_length`, `max_tokens` and `limit`. */
const cut = /length|max_|^limit$/i;

/** Why an answer ended: it is whole, it was cut at a limit, or it was broken off for the reason that is returned. */
export function endOf(reason: string): string {
  if (whole.test(reason)) return 'stop';
  return cut.test(reason) ? 'length' : reason;
}

/** What a client reads about an answer that was broken off. */
export function brokenOff(reason: string): string {
  const short = reason.replace(/\s+/g, ' ').slice(0, 64);
  return /filter|safety|refus/i.test(reason)
    ? `A filter of the runner stopped the answer (${short}). Ask in other words.`
    : `The runner broke the answer off (${short}). Ask again; if it happens again, look at the runner log.`;
}
