import { expect, test } from 'vitest'
import { launchBrowser } from './browser.ts'

test('where no Chromium starts, the error names the package to install and the variable to set', async () => {
  const message = 'no Chromium starts: install one (apt-get install chromium) and set CHROMIUM_PATH'
  await expect(launchBrowser('/nowhere/chromium')).rejects.toThrow(message)
})
