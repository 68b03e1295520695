import { createContext, use } from 'react'

/** Opens the dialog that finds applications, tasks and pages. */
export const OpenFind = createContext<() => void>(() => undefined)

export const useOpenFind = () => use(OpenFind)
