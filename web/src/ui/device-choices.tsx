import { useMantineColorScheme } from '@mantine/core'
import { Choice } from './choice.tsx'
import { setDeviceSetting, useDeviceSetting, useZoneSetting } from './device-settings.ts'
import { useChooseZone } from './time-zone.ts'

/** What this device keeps for itself. */
export function DeviceChoices() {
  // Else a style element would stop the transitions meanwhile, which the content security policy forbids.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true })
  const zone = useZoneSetting()
  return (
    <>
      <Choice
        legend="Colours"
        options={[
          ['auto', 'System'],
          ['light', 'Light'],
          ['dark', 'Dark'],
        ]}
        value={colorScheme}
        choose={setColorScheme}
      />
      <Choice
        legend="Time zone"
        options={[
          ['utc', 'UTC'],
          ['local', 'Local'],
          ...(zone === 'utc' || zone === 'local' ? [] : [[zone, zone] as const]),
        ]}
        value={zone}
        choose={useChooseZone()}
      />
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
