import { useEffect } from 'react'
import { useDeployLock } from '../locks/read-deploy-lock.ts'
import { useColours } from '../ui/colours.ts'
import { type TabMood, useTabMood } from '../ui/tab.ts'
import { tokenColours } from '../ui/token-colours.ts'

type State = 'calm' | 'moving' | 'bad' | 'locked'

const colourOf = {
  calm: '--ink',
  moving: '--accent-mark',
  bad: '--failed-mark',
  locked: '--locked-mark',
} as const satisfies Record<State, string>

/** What is wrong comes first, then that nothing may be deployed. */
const stateOf = (mood: TabMood | undefined, isLocked: boolean): State =>
  mood === 'bad' ? mood : isLocked ? 'locked' : (mood ?? 'calm')

/** Draws the gate mark into the tab, in the colour of what the page tells. */
export function useFavicon(): void {
  const state = stateOf(useTabMood(), useDeployLock().data?.active === true)
  const scheme = useColours()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the scheme changes the colours
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
    if (link === null) return
    const name = colourOf[state]
    link.href = markIn(tokenColours(document.body, [name])[name])
  }, [state, scheme])
}

const markIn = (colour: string): string =>
  `data:image/svg+xml,${encodeURIComponent(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke="${colour}"><path d="M1 16h5m20 0h5" stroke-width="6" stroke-linecap="round"/><circle cx="16" cy="16" r="8" stroke-width="6"/></svg>`,
  )}`
