import { expect, test } from 'vitest'
import { readValues } from './values-schema.ts'

const values = `# A head that describes nothing.
# -- Number of Pods
# @schema {minimum: 1}
count: 2

image:
  # -- Name
  name: ""
  # -- Tag
  # @schema
  # type: [string, integer]
  # examples: [latest]
  tag: ""
# -- Handed on
probe:
  path: /
# -- Texts
labels: {}
# -- Typed by the service
level: info
`

test('values.yaml with its comments becomes a schema and a table', () => {
  const { schema, rows } = readValues(values, new Map([['level', { enum: ['info', 'warn'] }]]))
  expect(schema).toEqual({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    additionalProperties: false,
    properties: {
      count: { type: 'integer', minimum: 1, description: 'Number of Pods', default: 2 },
      image: {
        type: 'object',
        additionalProperties: false,
        properties: {
          name: { type: 'string', description: 'Name', default: '' },
          tag: { type: ['string', 'integer'], examples: ['latest'], description: 'Tag', default: '' },
        },
      },
      probe: { type: 'object', description: 'Handed on', default: { path: '/' } },
      labels: { type: 'object', additionalProperties: { type: 'string' }, description: 'Texts', default: {} },
      level: { type: 'string', enum: ['info', 'warn'], description: 'Typed by the service', default: 'info' },
    },
  })
  expect(rows).toEqual([
    { path: 'count', chosen: 2, meaning: 'Number of Pods' },
    { path: 'image.name', chosen: '', meaning: 'Name' },
    { path: 'image.tag', chosen: '', meaning: 'Tag' },
    { path: 'probe', chosen: { path: '/' }, meaning: 'Handed on' },
    { path: 'labels', chosen: {}, meaning: 'Texts' },
    { path: 'level', chosen: 'info', meaning: 'Typed by the service' },
  ])
})
