import fc from "fast-check";

// Arrays and texts of property tests are as long as their bounds allow. By default none has more than ten items, whatever its `maxLength`.
fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true });
