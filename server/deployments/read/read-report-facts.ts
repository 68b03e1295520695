import type { Submitter } from '../../../contract/notify/submitter.ts'
import type { Database } from '../../storage/database.ts'

/** What a report on a commit needs of a task beside its record. */
type ReportFacts = { readonly submitter: Submitter | undefined; readonly externalUrl: string | undefined }

export const createReadReportFacts =
  ({ query }: Pick<Database, 'query'>) =>
  async (id: string): Promise<ReportFacts | undefined> => {
    const row = await query
      .selectFrom('tasks')
      .select(['submitter', 'external_url'])
      .where('id', '=', id)
      .executeTakeFirst()
    return row && { submitter: row.submitter ?? undefined, externalUrl: row.external_url ?? undefined }
  }
