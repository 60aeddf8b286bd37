#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/pool/shared/pooling.cuda.hpp"

namespace troupe::ops::max_pool_with_argmax_gpu {
namespace {

template <class T>
struct max_pool_with_argmax_body {
  gpu::windows on;
  const T* x;
  T* y;
  gpu::argmax_places places;
  TROUPE_DEVICE void operator()(int64_t i) const {
    gpu::largest_of_window<T> largest{on, x, on.out.locate(i)};
    y[i] = largest.k < 0 ? T{} : x[largest.offset];
    places.put(i, largest.k < 0 ? -1 : largest.offset);
  }
};

template <class T>
status max_pool_with_argmax_function(kernel_context& at) {
  const auto& input = at.input(0);
  TROUPE_ASSIGN(auto geometry, make_pooling(at, input.dims()));
  TROUPE_TRY(expect_places(at, input));
  TROUPE_ASSIGN(auto* out, at.allocate(0, geometry.output));
  TROUPE_ASSIGN(auto* places, at.allocate(1, geometry.output));
  if (out->elements() == 0)
    return {};
  TROUPE_ASSIGN(auto on, gpu::windows_of(geometry));
  return gpu::for_each(at, out->elements(),
                       max_pool_with_argmax_body<T>{
                           on, input.data<T>(), out->template data<T>(), {at, geometry, *places}});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> max_pool_with_argmax_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, max_pool_with_argmax_function<Ts>}...};
}

// Gradients are gathered from the windows that contain an element. Positions outside of their own
// window, which MaxPoolWithArgmax never produces, are recorded here, and added by another kernel.
struct look_at_argmax_body {
  gpu::windows on;
  gpu::argmax_places places;
  gpu::device_errors wrong;
  int32_t* has_outside_positions; // one flag per image
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto place = places.at(i);
    if (place < 0 || place >= places.image)
      wrong.add(place, places.image);
    else if (is_stray(i, place))
      has_outside_positions[i / places.windows] = 1; // all threads write the same value
  }

  TROUPE_DEVICE bool is_stray(int64_t i, int64_t place) const {
    auto window = on.out.locate(i), element = on.in.locate(place);
    auto inside = window.channel == element.channel;
    for (int axis = 0; axis < 3; ++axis) {
      const auto& along = on.axes[axis];
      auto from = element.at[axis] - (window.at[axis] * along.stride - along.before);
      inside = inside && from >= 0 && from < along.reach() && from % along.dilation == 0;
    }
    return !inside;
  }
};

template <class T>
struct gather_argmax_body {
  gpu::windows on;
  gpu::argmax_places places;
  const T* dy;
  T* dx;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto position = on.in.locate(i);
    auto place = i - position.image * places.image;
    compute_type<T> sum{};
    on.for_each_window(position.at, on.out.plane(position.image, position.channel),
                       [&](int32_t, int64_t window, const int32_t(&)[3]) {
                         if (places.at(window) == place)
                           sum += gpu::load(dy[window]);
                       });
    dx[i] = gpu::store<T>(sum);
  }
};

// One thread per image, which usually has no work.
template <class T>
struct add_strays_body {
  look_at_argmax_body looks;
  const T* dy;
  T* dx;
  TROUPE_DEVICE void operator()(int64_t image) const {
    const auto& places = looks.places;
    if (!looks.has_outside_positions[image])
      return;
    for (auto i = image * places.windows; i < (image + 1) * places.windows; ++i) {
      auto place = places.at(i);
      if (place < 0 || place >= places.image || !looks.is_stray(i, place))
        continue;
      auto& to = dx[image * places.image + place];
      to = gpu::store<T>(gpu::load(to) + gpu::load(dy[i]));
    }
  }
};

template <class T>
status gather_argmax(kernel_context& at) {
  TROUPE_ASSIGN(auto geometry, make_pooling(at, at.input(0).dims()));
  TROUPE_TRY(expect_dims(at.input(2), geometry.output, "argmax"));
  TROUPE_TRY(expect_dims(at.input(1), geometry.output, "grad"));
  TROUPE_ASSIGN(auto* out, at.allocate(0, geometry.input));
  if (out->elements() == 0)
    return {};
  TROUPE_ASSIGN(auto on, gpu::windows_of(geometry));
  TROUPE_ASSIGN(auto has_outside, tensor::make(dtype::i32, shape{geometry.images}, at.memory()));
  fill_zeros(at, has_outside);
  gpu::argmax_places places{at, geometry, at.input(2)};
  look_at_argmax_body looks{on, places, {at, "argmax"}, has_outside.template data<int32_t>()};
  const auto* dy = at.input(1).data<T>();
  auto* dx = out->template data<T>();
  TROUPE_TRY(gpu::for_each(at, at.input(1).elements(), looks));
  TROUPE_TRY(gpu::for_each(at, out->elements(), gather_argmax_body<T>{on, places, dy, dx}));
  return gpu::for_each(at, geometry.images, add_strays_body<T>{looks, dy, dx});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> gather_argmax_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, gather_argmax<Ts>}...};
}

template <class T>
struct take_argmax_body {
  gpu::argmax_places places;
  gpu::device_errors wrong;
  const T* x;
  T* y;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto place = places.at(i);
    auto inside = place >= 0 && place < places.image;
    if (!inside)
      wrong.add(place, places.image);
    y[i] = inside ? x[places.first(i) + place] : T{};
  }
};

template <class T>
status take_argmax(kernel_context& at) {
  TROUPE_ASSIGN(auto geometry, make_pooling(at, at.input(0).dims()));
  TROUPE_TRY(expect_dims(at.input(2), geometry.output, "argmax"));
  TROUPE_TRY(expect_dims(at.input(1), geometry.input, "grad"));
  TROUPE_ASSIGN(auto* out, at.allocate(0, geometry.output));
  return gpu::for_each(at, out->elements(),
                       take_argmax_body<T>{{at, geometry, at.input(2)},
                                           {at, "argmax"},
                                           at.input(1).data<T>(),
                                           out->template data<T>()});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> take_argmax_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, take_argmax<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(max_pool_with_argmax_function){
    .op = "MaxPoolWithArgmax",
    .device = device_kind::gpu,
    .run = max_pool_with_argmax_kernels(types::floating),
    .prepare = prepare_pool<argmax_pool>,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(max_pool_grad_with_argmax){
    .op = "MaxPoolGradWithArgmax",
    .device = device_kind::gpu,
    .run = gather_argmax_kernels(types::floating),
    .prepare = prepare_pool<argmax_pool>,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(max_pool_grad_grad_with_argmax){
    .op = "MaxPoolGradGradWithArgmax",
    .device = device_kind::gpu,
    .run = take_argmax_kernels(types::floating),
    .prepare = prepare_pool<argmax_pool>,
};

} // namespace troupe::ops::max_pool_with_argmax_gpu
