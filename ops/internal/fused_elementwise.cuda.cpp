// The kernel of _Fused on GPUs, which is compiled when it first runs.
#include "troupe/devices/gpu/cuda/compiled_kernel.hpp"
#include "troupe/ops/internal/fused_code.hpp"
#include "troupe/ops/kernel/strided_iterator.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <map>
#include <mutex>

namespace troupe::ops::fused_elementwise_gpu {
namespace {

// The state of a node: one kernel for each combination of input layouts that has occurred.
struct fused_kernels {
  fused_stages stages;
  std::vector<dtype> types; // the inputs' types
  const registry* ops = nullptr;
  std::mutex mutex;
  std::map<fused_variant, std::shared_ptr<const gpu::compiled_kernel>> known;

  result<std::shared_ptr<const gpu::compiled_kernel>> find_or_make(const fused_variant& variant,
                                                                   const gpu::properties& on) {
    std::lock_guard guard{mutex};
    auto entry = known.find(variant);
    if (entry != known.end())
      return entry->second;
    TROUPE_ASSIGN(auto code, fused_code(stages, types, *ops, variant));
    TROUPE_ASSIGN(auto kernel, gpu::compile(code, "fused", on));
    return known.emplace(variant, std::move(kernel)).first->second;
  }
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  auto kernels = std::make_shared<fused_kernels>();
  TROUPE_ASSIGN(kernels->stages, fused_stages::decode(setup.origin));
  for (const auto& input : setup.origin.inputs())
    kernels->types.push_back(input.type());
  kernels->ops = &setup.origin.graph().ops();
  // Ops without code are detected here, not in the first step.
  fused_variant plain{std::vector<beside>(kernels->types.size(), beside::elementwise)};
  TROUPE_TRY(fused_code(kernels->stages, kernels->types, *kernels->ops, plain).status());
  return std::shared_ptr<void>{std::move(kernels)};
}

beside place_of(const shape& input, const shape& output) {
  if (input.elements() == output.elements())
    return beside::elementwise;
  if (input.elements() == 1)
    return beside::single;
  auto row = input.extents();
  while (!row.empty() && row.front() == 1)
    row = row.subspan(1);
  return std::ranges::equal(row, output.extents().last(row.size())) ? beside::row : beside::strided;
}

bool is_aligned(const tensor& at, int width) {
  return reinterpret_cast<uintptr_t>(at.raw()) %
             (size_of(at.type()) * static_cast<size_t>(width)) ==
         0;
}

// The number of elements of the widest type in 16 bytes.
int width_for(const kernel_context& at, const tensor& out, const std::vector<beside>& places) {
  auto widest = size_of(out.type());
  for (int i = 0; i < at.inputs(); ++i)
    widest = std::max(widest, size_of(at.input(i).type()));
  auto width = static_cast<int>(16 / widest);
  for (; width > 1; width /= 2) {
    auto fits = is_aligned(out, width);
    for (int i = 0; i < at.inputs() && fits; ++i)
      if (auto place = places[static_cast<size_t>(i)];
          place == beside::elementwise || place == beside::row)
        fits = is_aligned(at.input(i), width) &&
               (place == beside::elementwise || at.input(i).elements() % width == 0);
    if (fits)
      break;
  }
  return width;
}

fused_steps steps_of(const shape& input, const shape& output) {
  auto places = strided_iterator::broadcast(output, input);
  fused_steps steps{.rank = places.rank()};
  for (int axis = 0; axis < places.rank(); ++axis) {
    steps.extents[axis] = places.extent(axis);
    steps.strides[axis] = places.stride(axis, 0);
  }
  return steps;
}

status run(kernel_context& at) {
  auto& kernels = at.state<fused_kernels>();
  fused_stages::shapes stage_shapes;
  TROUPE_TRY(kernels.stages.find_shapes(at, stage_shapes));
  auto dims = *stage_shapes.by_stage[kernels.stages.stages.size() - 1];
  // A stage that is smaller than the result may come before a stage that stretches it.
  for (int i = 0; i < at.inputs(); ++i) {
    TROUPE_ASSIGN(auto joint, broadcast(at.input(i).dims(), dims));
    if (!(joint == dims))
      return failure(error_kind::internal, "input ", i, " of shape ", at.input(i).dims(),
                     " is larger than the result ", dims);
  }
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(
                               0, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, dims));
  auto count = out->elements();
  if (count == 0)
    return {};
  fused_variant variant{.inputs = {}, .narrow = count < int64_t{1} << 31};
  for (int i = 0; i < at.inputs(); ++i)
    variant.inputs.push_back(place_of(at.input(i).dims(), dims));
  variant.width = width_for(at, *out, variant.inputs);

  int64_t packs = count / variant.width;
  auto* to = out->raw();
  std::array<const void*, fused_stages::max_inputs> from{};
  std::array<int64_t, fused_stages::max_inputs> rows{};
  std::array<fused_steps, fused_stages::max_inputs> steps{};
  std::vector<void*> arguments{&packs, &count, &to};
  for (int i = 0; i < at.inputs(); ++i) {
    auto slot = static_cast<size_t>(i);
    const auto& input = at.input(i);
    from[slot] = input.raw();
    rows[slot] = input.elements();
    arguments.push_back(&from[slot]);
    if (variant.inputs[slot] == beside::strided) {
      steps[slot] = steps_of(input.dims(), dims);
      arguments.push_back(&steps[slot]);
    } else {
      arguments.push_back(&rows[slot]);
    }
  }
  auto& device = gpu::gpu_of(at.device());
  TROUPE_ASSIGN(auto kernel, kernels.find_or_make(variant, device.driver().gpu_properties()));
  constexpr int64_t threads = 256, max_blocks = 1 << 16;
  auto items = std::max(packs, count - packs * variant.width);
  auto blocks = std::min((items + threads - 1) / threads, max_blocks);
  TROUPE_TRY(device.driver().make_current());
  return kernel->launch(static_cast<unsigned>(blocks), threads, arguments.data(), device.compute());
}

} // namespace

extern constexpr kernel_def fused_cuda{
    .op = "_Fused",
    .device = device_kind::gpu,
    .run = {{dtype::none, run}},
    .prepare = prepare,
};

} // namespace troupe::ops::fused_elementwise_gpu
