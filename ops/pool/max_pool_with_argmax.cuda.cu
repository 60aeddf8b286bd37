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
    gpu::largest_of_window<T> found{on, x, on.out.locate(i)};
    y[i] = found.k < 0 ? T{} : x[found.offset];
    places.put(i, found.k < 0 ? -1 : found.offset);
  }
};

template <class T>
status max_pool_with_argmax_function(kernel_context& at) {
  const auto& input = at.input(0);
  TROUPE_ASSIGN(auto of, make_pooling(at, input.dims()));
  TROUPE_TRY(expect_places(at, input));
  TROUPE_ASSIGN(auto* out, at.allocate(0, of.output));
  TROUPE_ASSIGN(auto* places, at.allocate(1, of.output));
  if (out->elements() == 0)
    return {};
  TROUPE_ASSIGN(auto on, gpu::windows_of(of));
  return gpu::for_each(at, out->elements(),
                       max_pool_with_argmax_body<T>{
                           on, input.data<T>(), out->template data<T>(), {at, of, *places}});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> max_pool_with_argmax_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, max_pool_with_argmax_function<Ts>}...};
}

// Gradients are gathered from the windows that contain an element. Places that are not in their
// own window, which MaxPoolWithArgmax never makes, are noted here, and added afterwards.
struct look_at_argmax_body {
  gpu::windows on;
  gpu::argmax_places places;
  gpu::device_errors wrong;
  int32_t* has_strays; // for each image
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto place = places.at(i);
    if (place < 0 || place >= places.image)
      wrong.add(place, places.image);
    else if (is_stray(i, place))
      has_strays[i / places.windows] = 1; // all write the same
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
    auto here = on.in.locate(i);
    auto place = i - here.image * places.image;
    compute_type<T> sum{};
    on.for_each_window(here.at, on.out.plane(here.image, here.channel),
                       [&](int32_t, int64_t window, const int32_t(&)[3]) {
                         if (places.at(window) == place)
                           sum += gpu::load(dy[window]);
                       });
    dx[i] = gpu::store<T>(sum);
  }
};

// One thread for each image, which has nothing to do as a rule.
template <class T>
struct add_strays_body {
  look_at_argmax_body looks;
  const T* dy;
  T* dx;
  TROUPE_DEVICE void operator()(int64_t image) const {
    const auto& places = looks.places;
    if (!looks.has_strays[image])
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
  TROUPE_ASSIGN(auto of, make_pooling(at, at.input(0).dims()));
  TROUPE_TRY(expect_dims(at.input(2), of.output, "argmax"));
  TROUPE_TRY(expect_dims(at.input(1), of.output, "grad"));
  TROUPE_ASSIGN(auto* out, at.allocate(0, of.input));
  if (out->elements() == 0)
    return {};
  TROUPE_ASSIGN(auto on, gpu::windows_of(of));
  TROUPE_ASSIGN(auto strays, tensor::make(dtype::i32, shape{of.images}, at.memory()));
  fill_zeros(at, strays);
  gpu::argmax_places places{at, of, at.input(2)};
  look_at_argmax_body looks{on, places, {at, "argmax"}, strays.template data<int32_t>()};
  const auto* dy = at.input(1).data<T>();
  auto* dx = out->template data<T>();
  TROUPE_TRY(gpu::for_each(at, at.input(1).elements(), looks));
  TROUPE_TRY(gpu::for_each(at, out->elements(), gather_argmax_body<T>{on, places, dy, dx}));
  return gpu::for_each(at, of.images, add_strays_body<T>{looks, dy, dx});
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
  TROUPE_ASSIGN(auto of, make_pooling(at, at.input(0).dims()));
  TROUPE_TRY(expect_dims(at.input(2), of.output, "argmax"));
  TROUPE_TRY(expect_dims(at.input(1), of.input, "grad"));
  TROUPE_ASSIGN(auto* out, at.allocate(0, of.output));
  return gpu::for_each(
      at, out->elements(),
      take_argmax_body<T>{
          {at, of, at.input(2)}, {at, "argmax"}, at.input(1).data<T>(), out->template data<T>()});
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
