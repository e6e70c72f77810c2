/** How each member of an object is made: from what is common to all of them, and from the object itself. */
export type MemberMakers<Members extends object, Source, Self = Members> = {
  readonly [Name in keyof Members]: (source: Source, self: Self) => Members[Name];
};

export function allMembers<Members extends object, Source>(
  makers: MemberMakers<Members, Source>,
  source: Source,
): Members {
  const self = {} as Members;
  for (const name of Reflect.ownKeys(makers) as (keyof Members)[])
    self[name] = makers[name](source, self);
  return self;
}

/**
 * An object whose members are made when they are first read, because making all of them takes longer than using one. Whoever lists, tests
 * or changes its members finds all of them, as in any object.
 */
export function lazyMembers<Members extends object, Source>(
  makers: MemberMakers<Members, Source>,
  source: Source,
): Members {
  const handler = new LazyMembers(makers, source);
  const self = new Proxy({}, handler) as Members;
  handler.self = self;
  return self;
}

/** The target has the members that were made so far. */
class LazyMembers<Members extends object, Source> implements ProxyHandler<object> {
  self: Members | undefined;
  readonly #makers: Readonly<Record<PropertyKey, (source: Source, self: Members) => unknown>>;
  readonly #source: Source;
  #isWhole = false;

  constructor(makers: MemberMakers<Members, Source>, source: Source) {
    this.#makers = makers;
    this.#source = source;
  }

  get(made: object, name: PropertyKey): unknown {
    // Own members only: Object.prototype may have others of the same name.
    if (!(this.#isWhole || Object.hasOwn(made, name)) && Object.hasOwn(this.#makers, name))
      Reflect.set(made, name, this.#make(name));
    return Reflect.get(made, name);
  }

  has(made: object, name: PropertyKey): boolean {
    return Reflect.has(this.#whole(made), name);
  }

  ownKeys(made: object): (string | symbol)[] {
    return Reflect.ownKeys(this.#whole(made));
  }

  getOwnPropertyDescriptor(made: object, name: PropertyKey): PropertyDescriptor | undefined {
    return Reflect.getOwnPropertyDescriptor(this.#whole(made), name);
  }

  preventExtensions(made: object): boolean {
    return Reflect.preventExtensions(this.#whole(made));
  }

  #make(name: PropertyKey): unknown {
    return this.#makers[name]?.(this.#source, this.self as Members);
  }

  /** The target with all members, in their order. */
  #whole(made: object): object {
    if (this.#isWhole) return made;
    for (const name of Reflect.ownKeys(this.#makers)) {
      const member: unknown = Object.hasOwn(made, name)
        ? Reflect.get(made, name)
        : this.#make(name);
      Reflect.deleteProperty(made, name);
      Reflect.set(made, name, member);
    }
    this.#isWhole = true;
    return made;
  }
}
