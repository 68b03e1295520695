import { tryKind } from '../../test/browser/try-kind.ts'

tryKind('open reading')
