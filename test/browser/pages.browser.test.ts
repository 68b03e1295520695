import { lookAtEachPage } from './try-kind.ts'

lookAtEachPage('open reading')
