// Probes for the simulation of a cluster (tests/simulate/README.md): places where it may inject a
// rare event, and paths that it must have taken. Compiled only if assertions are on.
#pragma once

namespace troupe {

/// A place in the sources. The linker collects all probes of a program in one section, so that a
/// simulation finds the probes that were never reached.
struct simulation_probe {
  const char* name;
  bool fails; ///< the injected event may make steps fail
};

class simulation_hooks {
public:
  /// Returns whether to inject the rare event of the probe.
  virtual bool interferes(const simulation_probe& at) noexcept = 0;
  /// Records that the path of the probe was taken.
  virtual void reached(const simulation_probe& at) noexcept = 0;

protected:
  ~simulation_hooks() = default;
};

/// The hooks of the running simulation, which has one thread; null outside of a simulation.
inline simulation_hooks* running_simulation = nullptr;

} // namespace troupe

// These macros must not be used in a template or an inline function, because the section attribute
// causes an error there.
#ifdef NDEBUG
#define TROUPE_BUGGIFY(text) false
#define TROUPE_BUGGIFY_ORDER(text) false
#define TROUPE_REACHED(text) static_cast<void>(0)
#else
#define TROUPE_PROBE_HERE(text, fails)                                                             \
  static const ::troupe::simulation_probe probe                                                    \
      __attribute__((section("troupe_probes"), used)) = {text, fails}
#define TROUPE_INTERFERES_HERE(text, fails)                                                        \
  (::troupe::running_simulation && [] {                                                            \
    TROUPE_PROBE_HERE(text, fails);                                                                \
    return ::troupe::running_simulation->interferes(probe);                                        \
  }())
/// Returns whether a simulation injects a rare event here that may make steps fail. Always false
/// outside of a simulation.
#define TROUPE_BUGGIFY(text) TROUPE_INTERFERES_HERE(text, true)
/// Like TROUPE_BUGGIFY, for an event that changes only the time, order or division of work: no step
/// may fail because of it.
#define TROUPE_BUGGIFY_ORDER(text) TROUPE_INTERFERES_HERE(text, false)
/// Reports to a simulation that a rare path was taken.
#define TROUPE_REACHED(text)                                                                       \
  do {                                                                                             \
    TROUPE_PROBE_HERE(text, false);                                                                \
    if (::troupe::running_simulation)                                                              \
      ::troupe::running_simulation->reached(probe);                                                \
  } while (false)
#endif
