// The parts of CAF's network layer that a loop of sockets uses, and the spelling of them that
// differs between versions of CAF. Their contracts were read in the sources of CAF 0.17.6 and 1.1
// (docs/caf-versions.md).
#pragma once
#include <caf/actor_registry.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/config.hpp>
#include <caf/io/middleman.hpp>
#include <caf/io/network/default_multiplexer.hpp>
#include <caf/io/network/event_handler.hpp>

namespace troupe {

/// The first parameter of a job's resume().
#if CAF_VERSION >= 10000
using multiplexer_unit = caf::scheduler;
#else
using multiplexer_unit = caf::execution_unit;
#endif

/// A multiplexer that the caller drives: it belongs to the thread that constructs it. The actor
/// system is read in the constructor only, and may end before the multiplexer.
class own_multiplexer final : public caf::io::network::default_multiplexer {
public:
#if CAF_VERSION >= 10000
  explicit own_multiplexer(caf::actor_system& system) : default_multiplexer(system) {}
#else
  explicit own_multiplexer(caf::actor_system& system) : default_multiplexer(&system) {}
#endif
};

/// Runs a job on the multiplexer's thread, between two rounds of events if that is the calling
/// thread. Takes over a reference to the job. Any thread may call.
inline void post_to(caf::io::network::default_multiplexer& multiplexer, caf::resumable* job) {
#if CAF_VERSION >= 10000
  multiplexer.schedule(job);
#else
  multiplexer.exec_later(job);
#endif
}

/// Returns the multiplexer of the system's middleman, whose thread handles events; null if there is
/// none.
inline caf::io::network::default_multiplexer* multiplexer_of_middleman(caf::actor_system& system) {
#if CAF_VERSION >= 10000
  constexpr auto manual = "caf.middleman.manual-multiplexing";
#else
  constexpr auto manual = "middleman.manual-multiplexing";
#endif
  if (!system.has_middleman() || caf::get_or(system.config(), manual, false))
    return nullptr;
  return dynamic_cast<caf::io::network::default_multiplexer*>(&system.middleman().backend());
}

} // namespace troupe
