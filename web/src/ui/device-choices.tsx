import type { ReactNode } from 'react'
import { Choice } from './choice.tsx'
import { setDeviceSetting, useDeviceSetting } from './device-settings.ts'

/** What this device keeps for itself; `children` is what else it keeps. */
export function DeviceChoices({ children }: { children: ReactNode }) {
  return (
    <>
      <Choice
        legend="Colours"
        options={[
          ['auto', 'System'],
          ['light', 'Light'],
          ['dark', 'Dark'],
        ]}
        value={useDeviceSetting('colours')}
        choose={(value) => setDeviceSetting('colours', value)}
      />
      {children}
      <Choice
        legend="Times"
        options={[
          ['relative', '6 min ago'],
          ['absolute', '14:26'],
        ]}
        value={useDeviceSetting('times')}
        choose={(value) => setDeviceSetting('times', value)}
      />
      <Choice
        legend="Keyboard shortcuts"
        options={[
          ['on', 'On'],
          ['off', 'Off'],
        ]}
        value={useDeviceSetting('shortcuts')}
        choose={(value) => setDeviceSetting('shortcuts', value)}
      />
    </>
  )
}
