import { parentPort } from 'node:worker_threads'
import { mergeOverrideFile } from '../plan/merge-override-file.ts'
import { readEntries } from '../plan/parse-override-file.ts'
import type { OverrideFileRequest } from './override-file-editor.ts'

/** The thread in which override files are parsed. Each request is answered by one message. */
parentPort?.on('message', (request: OverrideFileRequest) => parentPort?.postMessage(answerTo(request)))

function answerTo(request: OverrideFileRequest) {
  if (request.kind === 'entries') return readEntries(request.text, request.tool)
  return mergeOverrideFile(request.text, request.own, request.inherited, request.tool)
}
