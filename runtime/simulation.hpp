// Places where a simulation may interfere, and paths that its seeds must have taken
// (tests/simulate/README.md). Where assertions are off, as in a release, they are nothing at all.
#pragma once

namespace troupe {

/// One place in the sources. All of a program lie in a section of their own, where a simulation
/// finds those that it has never reached.
struct simulation_probe {
  const char* name;
  bool fails; ///< TROUPE_BUGGIFY: steps may fail of what it does
};

class simulation_hooks {
public:
  /// Whether something rare but allowed shall happen here.
  virtual bool interferes(const simulation_probe& at) noexcept = 0;
  virtual void reached(const simulation_probe& at) noexcept = 0;

protected:
  ~simulation_hooks() = default;
};

/// Null but in a simulation, which has one thread.
inline simulation_hooks* running_simulation = nullptr;

} // namespace troupe

// Neither may stand in a template or an inline function: sections do not allow for it.
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
/// Says whether a simulation wants a rare event here, of which steps may fail; never otherwise.
#define TROUPE_BUGGIFY(text) TROUPE_INTERFERES_HERE(text, true)
/// The same of what only changes when, or in which pieces, something is done: no step may fail.
#define TROUPE_BUGGIFY_ORDER(text) TROUPE_INTERFERES_HERE(text, false)
/// Says that a rare path was taken.
#define TROUPE_REACHED(text)                                                                       \
  do {                                                                                             \
    TROUPE_PROBE_HERE(text, false);                                                                \
    if (::troupe::running_simulation)                                                              \
      ::troupe::running_simulation->reached(probe);                                                \
  } while (false)
#endif
