import { tryKind } from './try-kind.ts'

tryKind('without a provider')
