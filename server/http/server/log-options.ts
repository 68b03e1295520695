import type { FastifyRequest } from 'fastify'
import { createRedactor, redactUrl } from '../../secrets/redactor.ts'

export type LogSettings = {
  /** As LOG_LEVEL: trace, debug, info, warn, error, fatal, silent. */
  readonly level: string
  readonly destination: { write(line: string): void }
  /** Every loaded secret, read at each line, since secrets rotate. */
  readonly secrets: () => readonly string[]
}

/** The log of the whole service: one JSON object a line, each line through the one redactor. */
export function logOptions({ level, destination, secrets }: LogSettings) {
  const redact = createRedactor(secrets)
  return {
    level,
    stream: { write: (line: string) => destination.write(redact(line)) },
    serializers: {
      req: ({ method, url, id, ip }: FastifyRequest) => ({ method, url: redactUrl(url), id, ip }),
    },
  }
}
