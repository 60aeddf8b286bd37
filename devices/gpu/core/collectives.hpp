// Collective operations among GPUs of one machine, launched for all members together.
#pragma once
#include "troupe/devices/gpu/core/driver.hpp"
#include "troupe/runtime/device/collective_call.hpp"

#include <functional>
#include <memory>
#include <span>

namespace troupe::gpu {

/// The part of one GPU in an exchange, in its own memory.
struct share {
  driver* of = nullptr;
  stream in = nullptr;
  const void* input = nullptr; ///< null if the member only receives
  void* output = nullptr;      ///< may be the input for the root of a broadcast
};

/// A group of GPUs in a fixed order. Launches must not overlap; any thread may abort.
class communicator {
public:
  virtual ~communicator() = default;
  /// Launches on all members, after the earlier work of their streams. The input of a member may be
  /// overwritten when the member's launch has run. After an error, launches on other members may
  /// never end: call abort().
  virtual status launch(const collective_call& call, std::span<const share> shares) = 0;
  /// Ends running launches soon, with invalid results. Later launches fail.
  virtual void abort(const status& reason) noexcept = 0;
};

/// An optional interface of a driver: collective operations with other GPUs.
class collective_driver {
public:
  /// The number of the GPU. Drivers with the same number can read each other's memory.
  virtual int64_t gpu() const noexcept = 0;
  /// Connects different GPUs, this one among them. May take seconds.
  virtual result<std::shared_ptr<communicator>>
  make_communicator(std::span<driver* const> drivers) = 0;
  /// Launches the reduction of several arrays of the GPU's memory into another, in their order.
  virtual status combine(void* target, std::span<const void* const> sources, int64_t count,
                         dtype type, reduction operation, bool average, stream in) = 0;

protected:
  ~collective_driver() = default;
};

/// An interface of gpu_device for collective calls. Its peers need not outlive it.
class collective_device {
public:
  /// Keeps the driver alive.
  virtual std::shared_ptr<const void> keep() const = 0;
  /// Calls `act` once with the reason when the device is lost, or if it is lost already, on a
  /// thread of the device and without a lock. `act` must not block.
  virtual void on_lost(std::function<void(const status&)> act) = 0;
  /// Checks whether the device is lost.
  virtual status probe() = 0;

  /// Returns a position after all earlier launches, valid while the pointer is held.
  virtual result<std::shared_ptr<void>> record_position() = 0;
  /// Returns the stream of exchanges, which runs beside the compute stream. Later launches in it
  /// run after `position`, or after all earlier launches of the compute stream if that is null.
  virtual result<stream> begin_exchange(const std::shared_ptr<void>& position) = 0;
  /// To be called when the exchange was launched. The input may be released. A user of the output
  /// calls wait_for() first (runtime/device/pending_inputs.hpp).
  virtual status end_exchange(const tensor& input, const tensor& output) = 0;

protected:
  ~collective_device() = default;
};

/// For a member that arrives early: allocates the output if its size follows from the input, and
/// records the position in its compute stream after which the exchange may run.
status prepare_collective(const collective_call& call, collective_part& part);

/// Sets the output of each participant and launches the exchange, beside the compute streams. The
/// launch for several devices is atomic: no other exchange comes between on any of them, so that
/// all devices run their common exchanges in one order.
status run_collective(const collective_call& call, std::span<collective_part> parts);

} // namespace troupe::gpu
