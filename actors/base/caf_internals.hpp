// The parts of CAF that actors/ uses beyond its documented interface: resumables, execution units,
// the scheduler, and messages without heap memory. Their contracts were read in the sources of CAF
// 0.17 and must be checked again for another version (docs/caf-versions.md).
#pragma once
#include <caf/config.hpp>
#include <caf/execution_unit.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/make_actor.hpp>
#include <caf/monitorable_actor.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

static_assert(CAF_VERSION >= 1700 && CAF_VERSION < 1800,
              "Troupe uses internals of CAF 0.17; docs/caf-versions.md lists the differences of "
              "other versions");
