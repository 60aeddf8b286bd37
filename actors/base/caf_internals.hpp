// What this folder uses of CAF beyond its documented interface: resumables and execution units, the
// scheduler, messages without a heap. It was read in the sources of CAF 0.17; another version needs
// another reading (docs/caf-versions.md).
#pragma once
#include <caf/config.hpp>
#include <caf/execution_unit.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/make_actor.hpp>
#include <caf/monitorable_actor.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

static_assert(CAF_VERSION >= 1700 && CAF_VERSION < 1800,
              "Troupe uses internals of CAF 0.17; docs/caf-versions.md says what others lack");
