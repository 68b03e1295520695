import { tryFewFlows } from './try-kind.ts'

tryFewFlows('open reading')
