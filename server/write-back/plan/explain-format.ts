import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { parseTemplate, type Template, TemplateError } from '../../../gotemplate/template.ts'
import { type CommitTask, commitMessage } from './commit-message.ts'

export type Explanation = { readonly exitCode: 0 | 2 | 78; readonly output: string; readonly complaint: string }

const usage = "usage: npm run template -- '<format>' [--data file.json]"

/** The names that a format sees, each with the value of an example where a file leaves it out. */
const dataFile = z.object({
  App: z.string().default('shop'),
  Id: z.string().default('0b3f6a52-7c1d-4e0e-9a57-2f1d8c4b6e90'),
  Author: z.string().default('Ada'),
  Project: z.string().default('shop'),
  Images: z
    .array(z.object({ Image: z.string(), Tag: z.string() }))
    .default([{ Image: 'registry.example.com/shop', Tag: 'v2' }]),
})

/** Shows the message that a format makes of a task, with the trailer. */
export function explainFormat(args: readonly string[]): Explanation {
  try {
    const { positionals, values } = parseArgs({
      args: [...args],
      options: { data: { type: 'string' } },
      allowPositionals: true,
    })
    const [format] = positionals
    if (format === undefined || positionals.length > 1) return wrong(2, usage)
    const task = readTask(values.data)
    return explain(parseTemplate('COMMIT_MESSAGE_FORMAT', format), task)
  } catch (error) {
    if (error instanceof TemplateError) return wrong(78, error.message)
    return wrong(2, `${error instanceof Error ? error.message : error}\n${usage}`)
  }
}

function explain(commitMessageFormat: Template, task: CommitTask): Explanation {
  const { text, failure } = commitMessage(task, { commitMessageFormat, commitTrailer: true })
  const complaint = failure ? `warning: default message used: ${failure.message}` : ''
  return { exitCode: 0, output: text, complaint }
}

const wrong = (exitCode: 2 | 78, complaint: string): Explanation => ({ exitCode, output: '', complaint })

function readTask(file: string | undefined): CommitTask {
  const data = dataFile.parse(file === undefined ? {} : JSON.parse(readFileSync(file, 'utf8')))
  const images = data.Images.map(({ Image, Tag }) => ({ image: Image, tag: Tag }))
  return { id: data.Id, app: data.App, author: data.Author, project: data.Project, images }
}
