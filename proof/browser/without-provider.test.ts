import { tryKind } from '../../test/browser/try-kind.ts'

tryKind('without a provider')
