/** What is wrong with a version such as `v18.20.4`, by a floor such as `>=20.19.0`; undefined where nothing is. */
export function complaintAbout(version: string, floor: string): string | undefined;
