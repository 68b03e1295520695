import { describe, expect, test } from 'vitest'
import { hostWords } from '../../../../test/support/git-host-words.ts'
import { parsePushReport, wasNeverSent } from '../push/parse-push-report.ts'
import { causeOfFailure, causeOfRejection, classifyGitFailure, describeGitFailure } from './git-error.ts'
import { hookText, redactGitText } from './redact-git-text.ts'

describe('what the words of a failed git command mean', () => {
  test.for([
    {
      says: 'No ED25519 host key is known for [127.0.0.1]:22 and you have requested strict checking.\nHost key verification failed.',
      code: 'host_key',
    },
    {
      says: '@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\nHost key verification failed.',
      code: 'host_key',
    },
    {
      says: 'git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.',
      code: 'access_denied',
    },
    { says: "fatal: Authentication failed for 'https://h/x'", code: 'access_denied' },
    {
      says: "remote: Permission to a/b.git denied to c.\nfatal: unable to access 'x': The requested URL returned error: 403",
      code: 'access_denied',
    },
    { says: 'ERROR: Repository not found.\nfatal: Could not read from remote repository.', code: 'repository_missing' },
    { says: "fatal: 'x.git' does not appear to be a git repository", code: 'repository_missing' },
    { says: "fatal: couldn't find remote ref refs/heads/x", code: 'branch_missing' },
    { says: 'ssh: Could not resolve hostname h: Name or service not known', code: 'unreachable' },
    { says: 'ssh: connect to host h port 22: Connection refused', code: 'unreachable' },
    { says: 'fatal: the remote end hung up unexpectedly', code: 'unreachable' },
    { says: 'error: cannot run ssh: No such file or directory', code: 'machine' },
    { says: 'fatal: cannot create directory at x: No space left on device', code: 'machine' },
    { says: 'error: cannot fork to run ssh: Resource temporarily unavailable', code: 'machine' },
    { says: 'fatal: Unable to create /c/shallow.lock: Read-only file system', code: 'machine' },
    { says: 'remote: fatal: No space left on device\nfatal: the remote end hung up unexpectedly', code: 'unreachable' },
    { says: "fatal: Unable to create '/x/shallow.lock': File exists.", code: 'broken' },
  ])('$says is $code', ({ says, code }) => expect(classifyGitFailure(says)).toBe(code))

  test('what a hook says decides nothing once the connection was in use', () => {
    const cut = 'remote: ERROR: Repository not found.\nfatal: the remote end hung up unexpectedly'
    expect(classifyGitFailure(cut)).toBe('unreachable')
    expect(classifyGitFailure('remote: Permission denied (publickey).\nerror: failed to push some refs')).toBe('broken')
  })
})

describe('what Git hosts say where a write-back cannot succeed', () => {
  const named = hostWords.map((words) => ({ ...words, name: `${words.host}: ${words.situation} (${words.over})` }))
  const reported = ({ when }: (typeof named)[number]) => when === 'report'

  test.for(named.filter((words) => !reported(words)))('$name means $means', ({ says, means }) => {
    expect(classifyGitFailure(says)).toBe(means)
  })

  test.for(named.filter((words) => reported(words)))('$name is a rejected commit: $means', ({ says, means }) => {
    expect(causeOfRejection(says)).toBe(means === 'rule' ? 'git_refused' : 'git_access_denied')
  })

  test('each that lasts has a cause of its own, and host and advice in the first line', () => {
    for (const { says, means } of named) {
      if (means === 'rule' || means === 'unreachable') continue
      expect(causeOfFailure[means]).toMatch(/^git_(?:access_denied|host_key|repository_missing)$/)
      const [first, ...rest] = describeGitFailure(means, 'git.example', says).split('\n')
      expect(first).toMatch(/git\.example.*: /)
      expect(rest.join('\n')).toBe(says.trim())
    }
  })
})

describe('what a push reported of the branch', () => {
  const line = (flag: string, summary: string) => `To x\n${flag}\tabc:refs/heads/main\t${summary}\nDone\n`
  const old = '0'.repeat(39)
  test.for([
    { text: line(' ', `${old}1..${old}2`), kind: 'pushed' },
    { text: line('=', '[up to date]'), kind: 'pushed' },
    { text: line('!', '[rejected] (fetch first)'), kind: 'lost_race' },
    { text: line('!', '[rejected] (non-fast-forward)'), kind: 'lost_race' },
    { text: line('!', '[rejected] (stale info)'), kind: 'lost_race' },
    { text: line('!', '[remote rejected] (failed to update ref)'), kind: 'lost_race' },
    { text: line('!', '[remote rejected] (incorrect old value provided)'), kind: 'lost_race' },
    {
      text: line('!', "[remote rejected] (cannot lock ref 'refs/heads/main': is at 12 but expected 34)"),
      kind: 'lost_race',
    },
    {
      text: line(
        '!',
        "[remote rejected] (TF401028: The reference 'refs/heads/main' has already been updated by another client, so you cannot update it. Please try again.)",
      ),
      kind: 'lost_race',
    },
    { text: line('!', '[remote rejected] (pre-receive hook declined)'), kind: 'refused' },
    { text: line('!', '[remote rejected] (protected branch hook declined)'), kind: 'refused' },
    { text: line('!', '[remote rejected] (shallow update not allowed)'), kind: 'cache_unfit' },
    { text: line('!', '[remote rejected] (unpacker error)'), kind: 'cache_unfit' },
    { text: line('!', '[remote rejected] (Internal Server Error)'), kind: 'passing' },
    { text: line('!', '[remote failure] (remote failed to report status)'), kind: 'silent' },
    { text: '', kind: 'silent' },
  ])('$text', ({ text, kind }) => expect(parsePushReport(text, 'main').kind).toBe(kind))
})

describe('whether a push without a report was sent', () => {
  test.for([
    { says: 'ERROR: no access\nfatal: Could not read from remote repository.', never: true },
    { says: "fatal: unable to access 'https://h/x/': The requested URL returned error: 403", never: true },
    { says: 'remote: fatal: Could not read from remote repository.', never: false },
    { says: 'remote: Permission denied (publickey).\nfatal: the remote end hung up unexpectedly', never: false },
    { says: 'error: RPC failed; HTTP 403\nfatal: the remote end hung up unexpectedly', never: false },
    { says: '', never: false },
  ])('$says', ({ says, never }) => expect(wasNeverSent(says)).toBe(never))
})

describe('words of git and of hooks', () => {
  test.for([
    { text: 'https://user:secret@h/x', gone: 'secret' },
    { text: 'token=abcdefghijkl', gone: 'abcdefghijkl' },
    { text: 'glpat-abcdefghijkl', gone: 'abcdefgh' },
    { text: 'the pass is open sesame', gone: 'open sesame' },
    { text: '\u001b[31mred\u001b[0m', gone: '\u001b' },
    { text: 'a\u202eb', gone: '\u202e' },
  ])('lose what is secret or unprintable: $text', ({ text, gone }) => {
    const shown = redactGitText(text, ['open sesame'])
    expect(shown).not.toContain(gone)
    expect(shown).not.toBe('')
  })
  test('are cut at 2 KiB, between characters', () => {
    expect(Buffer.byteLength(redactGitText('ä'.repeat(5_000), []))).toBeLessThanOrEqual(2_048)
  })
  test("a hook's words are the lines of the remote", () => {
    expect(hookText('remote: \nremote: frozen   \nTo ssh://x\n ! [remote rejected]')).toBe('frozen')
  })
})
