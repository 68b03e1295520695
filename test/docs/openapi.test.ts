import { expect, test } from 'vitest'
import { startWorld } from '../support/world.ts'

test('docs/openapi.json is the API document of an installation with every kind of credential, and with badges', async () => {
  const settings = {
    PUBLIC_BADGES: 'true',
    WATCHER_DEPLOY_TOKEN: 'a deploy token',
    JWT_SECRET: 'a secret of at least 32 bytes for the test',
  }
  await using installation = await startWorld({ parts: ['provider'], settings })
  const { body } = await installation.service.request('/api/v1/openapi.json')
  await expect(`${JSON.stringify(body, null, 2)}\n`).toMatchFileSnapshot('../../docs/openapi.json')
})
