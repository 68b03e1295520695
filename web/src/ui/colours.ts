import { useColorScheme } from '@mantine/hooks'
import { useLayoutEffect } from 'react'
import { useDeviceSetting } from './device-settings.ts'

/** The colours that the page is drawn in. */
export function useColours(): 'light' | 'dark' {
  const chosen = useDeviceSetting('colours')
  const ofSystem = useColorScheme('light', { getInitialValueInEffect: false })
  return chosen === 'auto' ? ofSystem : chosen
}

/** Draws the page in the colours that this device chose; the tokens follow the system otherwise. */
export function useChosenColours(): void {
  const chosen = useDeviceSetting('colours')
  useLayoutEffect(() => {
    if (chosen === 'auto') delete document.documentElement.dataset.scheme
    else document.documentElement.dataset.scheme = chosen
  }, [chosen])
}
