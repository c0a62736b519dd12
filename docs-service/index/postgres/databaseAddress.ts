/** Throws for an address that is none, or that has a password: addresses end up in logs, settings and lists of processes. */
export function refusePassword(url: string): void {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (!address || !/^postgres(?:ql)?:$/.test(address.protocol))
    throw new Error('The address of the database must look like postgres://host/name.');
  if (address.password !== '' || address.searchParams.has('password'))
    throw new Error(
      'The address of the database has a password in it. Leave it out, and put it into a file that PGPASSFILE names, or into PGPASSWORD.',
    );
}
