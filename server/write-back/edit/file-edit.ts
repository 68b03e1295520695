import type { Cause } from '../../../contract/causes.ts'

type EditCause = Extract<Cause, 'override_file_invalid' | 'values_key_missing' | 'annotation_invalid'>

/** A file that a write-back does not dare to edit, and why: the message goes on where the name of the file ends. */
export class FileEditError extends Error {
  override readonly name = 'FileEditError'
  readonly taskCause: EditCause

  constructor(
    message: string,
    { taskCause = 'override_file_invalid', ...options }: ErrorOptions & { taskCause?: EditCause } = {},
  ) {
    super(message, options)
    this.taskCause = taskCause
  }
}

export type InvalidFile = { readonly kind: 'invalid'; readonly cause: EditCause; readonly reason: string }

/** A named place of a file and the value that it gets. */
export type Place = { readonly name: string; readonly value: string }

/** An entry of a list in an override file: a Helm parameter, or an image, whose value is the whole entry. */
export type OverrideEntry = Place & { readonly forceString: boolean }

export type FileEdit =
  | { readonly kind: 'same' }
  | {
      readonly kind: 'changed'
      readonly text: string
      /** What each place had before; undefined: nothing. */
      readonly replaced: ReadonlyMap<string, string | undefined>
    }
  | InvalidFile

/** The values of places, without those that have none. */
export type ValuesRead = { readonly kind: 'values'; readonly values: ReadonlyMap<string, string> } | InvalidFile

/** Reads and sets places of one kind of file. Every byte outside of them stays. */
export type FileEditor = {
  /** The files of which exactly one is there; without any, the first is made where the editor makes files. */
  candidates(file: string): readonly string[]
  /** `text` undefined: there is no file. */
  read(text: string | undefined, names: readonly string[]): ValuesRead
  /** What an override file beside the edited one sets instead of it. @throws {FileEditError} */
  entriesBeside(text: string): readonly OverrideEntry[]
  /** `inherited`: what Argo CD has from the application itself and from override files beside this one. */
  set(text: string | undefined, places: readonly Place[], inherited: readonly OverrideEntry[]): FileEdit
  /** A place in words for the timeline. */
  describe(place: Place): string
}

/** What an error in reading or editing a file says about it; errors of other kinds are thrown on. */
export function invalidBecause(error: unknown): InvalidFile {
  if (error instanceof FileEditError) return { kind: 'invalid', cause: error.taskCause, reason: error.message }
  if (error instanceof RangeError) {
    return { kind: 'invalid', cause: 'override_file_invalid', reason: 'is nested too deeply' }
  }
  throw error
}
