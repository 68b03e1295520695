import type { Source } from '../task.ts'

/**
 * Who submitted a task, as far as it says whose commits the task may be reported on. Of a CI: the address of its pages, such
 * as `https://github.com`, and the commit that its token names.
 */
export type Submitter =
  | { readonly kind: 'ci'; readonly server: string; readonly source?: Source | undefined }
  | { readonly kind: 'other' }
