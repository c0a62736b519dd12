/** Throws for an invalid address, and for one with a password: addresses end up in logs, settings and process lists. */
export function refusePassword(url: string): void {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (!address || !/^postgres(?:ql)?:$/.test(address.protocol))
    throw new Error('The address of the database must look like postgres://host/name.');
  if (address.password !== '' || address.searchParams.has('password'))
    throw new Error(
      'The address of the database contains a password. Remove it, and put it into a file that PGPASSFILE names, or into PGPASSWORD.',
    );
}
