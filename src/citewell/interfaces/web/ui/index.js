/** All shared components, from one place: `import { Button, Empty, toast } from "../ui/index.js"`. */

export { Button, IconButton } from "./button.js";
export { coded } from "./coded.js";
export { Asked, ask, Confirm, Dialog } from "./dialog.js";
export { Check, Choice, Field, Select } from "./fields.js";
export { ago, bytes, day, duration, figure, month, percent, time } from "./figures.js";
export { FormDialog } from "./form_dialog.js";
export { Icon } from "./icon.js";
export { Menu } from "./menu.js";
export { Badge, Busy, Empty, Problem, Progress } from "./notice.js";
export { Table } from "./table.js";
export { Tabs } from "./tabs.js";
export { Toasts, toast } from "./toast.js";
export { useWork } from "./work.js";
