// Collective operations among GPUs of one machine, launched for all of them at once.
#pragma once
#include "troupe/devices/gpu/core/driver.hpp"
#include "troupe/runtime/device/collective_call.hpp"

#include <functional>
#include <memory>
#include <span>

namespace troupe::gpu {

/// What one GPU gives to an exchange, in memory of its own.
struct share {
  driver* of = nullptr;
  stream in = nullptr;
  const void* input = nullptr; ///< null where it only receives
  void* output = nullptr;      ///< may be the input, for who sends a broadcast
};

/// GPUs that know each other, in one order. One thread at a time launches; any thread may abort.
class communicator {
public:
  virtual ~communicator() = default;
  /// Launches on all of them, behind what their streams were given. When it has run on one of them,
  /// that one's input may be overwritten. After an error, what was launched may wait for ever:
  /// abort.
  virtual status launch(const collective_call& what, std::span<const share> all) = 0;
  /// What was launched ends soon, with results of no use; nothing can be launched any more.
  virtual void abort(const status& why) noexcept = 0;
};

/// What a driver may be, beside a driver: one whose GPU computes together with others.
class collective_driver {
public:
  /// Drivers with the same number are of one GPU: each can read the others' memory.
  virtual int64_t gpu() const noexcept = 0;
  /// Introduces different GPUs to each other, this one among them. May take seconds.
  virtual result<std::shared_ptr<communicator>> make_communicator(std::span<driver* const> all) = 0;
  /// Launches the reduction of several places of the GPU's memory into another, in their order.
  virtual status combine(void* to, std::span<const void* const> from, int64_t count, dtype type,
                         reduction by, bool average, stream in) = 0;

protected:
  ~collective_driver() = default;
};

/// What a device is, beside a gpu_device, so that its peers need not outlive it.
class collective_device {
public:
  /// Keeps the driver.
  virtual std::shared_ptr<const void> keep() const = 0;
  /// Calls it with the reason when the device is lost, from any thread, or at once if it is. It
  /// must not wait.
  virtual void on_lost(std::function<void(const status&)> act) = 0;
  /// Looks whether the device is lost.
  virtual status probe() = 0;

  /// Stands for all that was launched so far, as long as somebody holds it.
  virtual result<std::shared_ptr<void>> record_position() = 0;
  /// Where exchanges run, beside the line of launches: what is launched there from now on runs
  /// behind that place, or behind all that was launched so far if it is null.
  virtual result<stream> begin_exchange(const std::shared_ptr<void>& behind) = 0;
  /// To be called when the exchange was launched there. The input may be let go of. Who uses the
  /// output calls wait_for() before (runtime/device/pending_inputs.hpp).
  virtual status end_exchange(const tensor& input, const tensor& output) = 0;

protected:
  ~collective_device() = default;
};

/// For a member that has come: takes memory for its output where its input says how much, and notes
/// the place in its device's line behind which the exchange may run.
status prepare_collective(const collective_call& what, collective_part& mine);

/// Gives each participant its output and launches what computes it, beside the lines of launches.
/// Who launches for several devices does so in one piece: no other exchange comes between on any of
/// them, so that all devices have the exchanges that they share in one order.
status exchange(const collective_call& what, std::span<collective_part> all);

} // namespace troupe::gpu
