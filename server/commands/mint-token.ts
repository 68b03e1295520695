import { exitCodes } from '../../contract/exit-codes.ts'
import { mintToken } from '../auth/tokens/mint-token.ts'

/** `npm run token -- --app shop --expires 30d`: prints a JWT that is signed with JWT_SECRET. */
const outcome = await mintToken(process.argv.slice(2), process.env, Date.now() / 1000)
if ('token' in outcome) {
  console.log(outcome.token)
  console.error(outcome.summary)
} else {
  console.error(outcome.issue)
  process.exitCode = exitCodes.usage
}
