import { expect, test } from 'vitest'
import { renderCsv } from './render-csv.ts'

const row = (fields: object) => {
  const version = { app: 'shop', image: 'r/shop', drift: false, ...fields }
  return renderCsv([{ image: 'r/shop', versions: [version] }], 'https://watcher.example').split('\r\n')
}

test('a line has what the page shows, with times and addresses for machines', () => {
  expect(row({ tag: 'v1', since: 1_700_000_000.25, task_id: '019a' })).toEqual([
    '"application","image","tag","digest","since","seen_since","drift","deployed_tag","deployment"',
    '"shop","r/shop","v1","","2023-11-14T22:13:20Z","","false","","https://watcher.example/task/019a"',
    '',
  ])
  expect(row({ digest: 'sha256:a', seen_since: 1_700_000_000, drift: true, deployed_tag: 'v2' })[1]).toBe(
    '"shop","r/shop","","sha256:a","","2023-11-14T22:13:20Z","true","v2",""',
  )
})

test.for([
  ['a "b", c', '"a ""b"", c"'],
  ['two\nlines', '"two\nlines"'],
  ['=HYPERLINK("x")', `"'=HYPERLINK(""x"")"`],
  ['+1', `"'+1"`],
  ['-1', `"'-1"`],
  ['@SUM', `"'@SUM"`],
  ['\t=1', `"'\t=1"`],
  ['  =1', `"'  =1"`],
  ['v1-2+3@4=5', '"v1-2+3@4=5"'],
] as const)('%j is written as %s', ([tag, written]) => expect(row({ tag })[1]).toContain(`"r/shop",${written},`))
