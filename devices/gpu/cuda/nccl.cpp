#include "troupe/devices/gpu/cuda/nccl.hpp"

#include "troupe/devices/gpu/cuda/libraries.hpp"

#if __has_include(<nccl.h>)
#include <nccl.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace troupe::gpu {
namespace {

TROUPE_LIBRARY_FUNCTION(nccl, ncclAllGather);
TROUPE_LIBRARY_FUNCTION(nccl, ncclAllReduce);
TROUPE_LIBRARY_FUNCTION(nccl, ncclBroadcast);
TROUPE_LIBRARY_FUNCTION(nccl, ncclCommAbort);
TROUPE_LIBRARY_FUNCTION(nccl, ncclCommDestroy);
TROUPE_LIBRARY_FUNCTION(nccl, ncclCommGetAsyncError);
TROUPE_LIBRARY_FUNCTION(nccl, ncclCommInitAll);
TROUPE_LIBRARY_FUNCTION(nccl, ncclGroupEnd);
TROUPE_LIBRARY_FUNCTION(nccl, ncclGroupStart);
TROUPE_LIBRARY_FUNCTION(nccl, ncclReduceScatter);

result<ncclDataType_t> element_type(dtype type) {
  switch (type) {
    case dtype::f16: return ncclFloat16;
    case dtype::bf16: return ncclBfloat16;
    case dtype::f32: return ncclFloat32;
    case dtype::f64: return ncclFloat64;
    case dtype::i32: return ncclInt32;
    case dtype::i64: return ncclInt64;
    case dtype::boolean: return ncclUint8; // moved, never added up
    default: return failure(error_kind::unimplemented, "NCCL knows no elements of type ", type);
  }
}

ncclRedOp_t operation(const collective_call& what) {
  switch (what.by) {
    case reduction::sum: return what.average ? ncclAvg : ncclSum;
    case reduction::product: return ncclProd;
    case reduction::min: return ncclMin;
    case reduction::max: return ncclMax;
  }
  return ncclSum;
}

class exchange_by_nccl final : public communicator {
public:
  status start(std::span<const int> gpus) {
    members_.resize(gpus.size());
    std::vector<int> list{gpus.begin(), gpus.end()};
    auto made = ncclCommInitAll(members_.data(), static_cast<int>(list.size()), list.data());
    if (!made)
      members_.clear();
    return made;
  }
  ~exchange_by_nccl() override {
    if (aborting_.joinable())
      aborting_.join();
    if (!aborted_)
      for (auto* one : members_)
        static_cast<void>(ncclCommDestroy(one));
  }

  status launch(const collective_call& what, std::span<const share> all) override {
    std::lock_guard guard{mutex_};
    if (aborted_)
      return failure(error_kind::aborted, "a GPU of the group was lost: run the step again");
    for (auto* one : members_) {
      ncclResult_t since = ncclSuccess;
      TROUPE_TRY(ncclCommGetAsyncError(one, &since));
      if (since != ncclSuccess && since != ncclInProgress)
        return nccl().check(static_cast<int>(since), "an earlier exchange");
    }
    TROUPE_ASSIGN(auto type, element_type(what.type));
    // All or nothing: one thread launches for several GPUs.
    TROUPE_TRY(ncclGroupStart());
    status outcome;
    for (size_t i = 0; i < all.size() && outcome; ++i)
      outcome = launch_one(what, all, i, type);
    auto ended = ncclGroupEnd();
    return outcome ? ended : outcome;
  }

  // Whoever hears that a GPU is lost must not wait, and the library may. A launch that waits for
  // the lost GPU is broken by the abort; any other one ends first.
  void abort(const status&) noexcept override {
    if (aborted_.exchange(true))
      return;
    aborting_ = std::thread{[this] {
      std::unique_lock guard{mutex_, patience};
      for (auto* one : members_)
        static_cast<void>(ncclCommAbort(one));
    }};
  }

private:
  status launch_one(const collective_call& what, std::span<const share> all, size_t which,
                    ncclDataType_t type) {
    const auto& self = all[which];
    auto* with = members_[which];
    auto in = reinterpret_cast<cudaStream_t>(self.in);
    auto count = static_cast<size_t>(what.dims.elements());
    switch (what.kind) {
      case collective_kind::all_reduce:
        return ncclAllReduce(self.input, self.output, count, type, operation(what), with, in);
      case collective_kind::reduce_scatter:
        return ncclReduceScatter(self.input, self.output, count / all.size(), type, operation(what),
                                 with, in);
      case collective_kind::all_gather:
        return ncclAllGather(self.input, self.output, count, type, with, in);
      case collective_kind::broadcast:
        return ncclBroadcast(self.input, self.output, count, type, static_cast<int>(what.root),
                             with, in);
    }
    return {};
  }

  static constexpr std::chrono::seconds patience{2};

  std::timed_mutex mutex_; // of launches
  std::vector<ncclComm_t> members_;
  std::atomic<bool> aborted_ = false;
  std::thread aborting_;
};

} // namespace

result<std::shared_ptr<communicator>> introduce_by_nccl(std::span<const int> gpus) {
  auto made = std::make_shared<exchange_by_nccl>();
  TROUPE_TRY(made->start(gpus));
  return std::shared_ptr<communicator>{std::move(made)};
}

} // namespace troupe::gpu

#else // built where NCCL's header is not

namespace troupe::gpu {

result<std::shared_ptr<communicator>> introduce_by_nccl(std::span<const int>) {
  return failure(error_kind::unimplemented,
                 "this build knows no NCCL, by which GPUs compute together: build it where nccl.h "
                 "is found, or put the group on processors");
}

} // namespace troupe::gpu
#endif
