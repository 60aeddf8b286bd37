#include "troupe/ops/conv/shared/onednn_convolution.cpu.hpp"

#include "troupe/ops/conv/shared/onednn.cpu.hpp"

namespace troupe::ops {
namespace {

using dnnl::memory;
using dims = memory::dims;
using role = convolution_role;
constexpr auto f32 = memory::data_type::f32;

/// A job has about this many multiplications, which take a tenth of a millisecond.
constexpr double multiplications_per_job = 5e6;
/// The number of jobs where the shape alone decides: enough to keep many threads busy.
constexpr int64_t enough_jobs = 16;

/// Some images, or some output rows of one image with the input rows that they need.
struct band {
  int64_t images;
  window_axis rows; // the outermost axis
  bool operator==(const band&) const = default;
};

struct job {
  size_t primitive;
  int64_t input, output; // offsets of the first elements
};

dims outer(const convolution_shape& geometry, int64_t window_axis::*member) {
  dims extents;
  for (auto i = 3 - geometry.spatial; i < 3; ++i)
    extents.push_back(geometry.axes[static_cast<size_t>(i)].*member);
  return extents;
}

// oneDNN names extents in the order images, channels, axes, independent of the memory layout.
dims activation_dims(const convolution_shape& geometry, int64_t channels,
                     int64_t window_axis::*extent) {
  auto extents = outer(geometry, extent);
  extents.insert(extents.begin(), {geometry.images, channels});
  return extents;
}

memory::desc activation(const dims& extents, bool channels_first) {
  auto plain = extents.size() == 4 ? memory::format_tag::nchw : memory::format_tag::ncdhw;
  auto last = extents.size() == 4 ? memory::format_tag::nhwc : memory::format_tag::ndhwc;
  return {extents, f32, channels_first ? plain : last};
}

dims filter_dims(const convolution_shape& geometry) {
  auto extents = outer(geometry, &window_axis::size);
  extents.insert(extents.begin(), {geometry.group_outputs(), geometry.group_inputs()});
  if (geometry.groups > 1)
    extents.insert(extents.begin(), geometry.groups);
  return extents;
}

// The user's layout: axes, inputs of a group, outputs of all groups.
memory::desc filter(const convolution_shape& geometry) {
  auto extents = filter_dims(geometry);
  dims strides(extents.size());
  auto next = geometry.out_channels * geometry.group_inputs();
  for (auto i = extents.size(); i-- > extents.size() - static_cast<size_t>(geometry.spatial);) {
    strides[i] = next;
    next *= extents[i];
  }
  auto at = strides.begin();
  if (geometry.groups > 1)
    *at++ = geometry.group_outputs();
  *at++ = 1;
  *at = geometry.out_channels;
  return {extents, f32, strides};
}

/// The input, filter and output in oneDNN's terms.
const std::array<int, 3>& arguments_of(role computes) {
  static constexpr std::array<int, 3> names[] = {
      {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST},
      {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST},
      {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
  };
  return names[static_cast<size_t>(computes)];
}

/// The primitive of a band, and the layouts that it needs for its operands.
struct band_primitive {
  dnnl::primitive run;
  memory::desc input, filter, output, scratchpad;
  memory::desc user_input, user_output;
};

memory::desc bias_of(const convolution_shape& geometry) {
  return {{geometry.out_channels}, f32, memory::format_tag::x};
}

band_primitive make_primitive(const convolution_shape& geometry, role computes, bool winograd,
                              const convolution_end& end) {
  auto attr = onednn::with_own_scratchpad();
  auto input = activation_dims(geometry, geometry.in_channels, &window_axis::in);
  auto output = activation_dims(geometry, geometry.out_channels, &window_axis::out);
  band_primitive prepared;
  prepared.user_input = activation(input, geometry.channels_first);
  prepared.user_output = activation(output, geometry.channels_first);
  // Measured: activations with the channels last and a filter in oneDNN's layout are faster than
  // activations in oneDNN's layout, which would have to be reordered and back. Winograd's algorithm
  // allows only the latter, and gains enough.
  auto any = [](const dims& extents) {
    return memory::desc{extents, f32, memory::format_tag::any};
  };
  auto x = winograd ? any(input) : activation(input, false);
  auto y = winograd ? any(output) : activation(output, false);
  auto w = any(filter_dims(geometry));
  auto strides = outer(geometry, &window_axis::stride),
       dilations = outer(geometry, &window_axis::dilation);
  for (auto& dilation : dilations)
    --dilation; // oneDNN counts the skipped elements
  auto before = outer(geometry, &window_axis::before), after = outer(geometry, &window_axis::after);
  constexpr auto direct = dnnl::algorithm::convolution_direct;
  auto algorithm = winograd ? dnnl::algorithm::convolution_winograd : direct;
  // For inference oneDNN would transform the filter in advance, by a slow loop.
  auto kind = computes == role::output && !winograd ? dnnl::prop_kind::forward_inference
                                                    : dnnl::prop_kind::forward_training;
  auto forward = onednn::describe<dnnl::convolution_forward>(
      attr, kind, computes == role::output ? algorithm : direct, x, w,
      end.bias ? bias_of(geometry) : memory::desc{}, y, strides, dilations, before, after);
  auto finish = [&](auto primitive, const auto& described) {
    prepared.run = std::move(primitive);
    auto layout_of = [&, name = arguments_of(computes)](size_t i) {
      return described.query_md(dnnl::query::exec_arg_md, name[i]);
    };
    prepared.input = layout_of(0);
    prepared.filter = layout_of(1);
    prepared.output = layout_of(2);
    prepared.scratchpad = described.scratchpad_desc();
  };
  if (computes == role::output) {
    finish(dnnl::convolution_forward{forward}, forward);
  } else if (computes == role::input) {
    auto gradient = onednn::describe_gradient<dnnl::convolution_backward_data>(
        attr, forward, algorithm, x, w, y, strides, dilations, before, after);
    finish(dnnl::convolution_backward_data{gradient}, gradient);
  } else {
    auto gradient = onednn::describe_gradient<dnnl::convolution_backward_weights>(
        attr, forward, algorithm, x, w, y, strides, dilations, before, after);
    finish(dnnl::convolution_backward_weights{gradient}, gradient);
  }
  // That variant writes past the caches, and needs an alignment that users' memory may not have.
  if (winograd &&
      (prepared.input == prepared.user_input || prepared.output == prepared.user_output))
    throw dnnl::error{dnnl_unimplemented, "operands would not be copied"};
  return prepared;
}

// oneDNN uses 32-bit arithmetic in some places.
bool of_ordinary_size(const convolution_shape& geometry) {
  constexpr int64_t small = 1 << 14, large = 1 << 30;
  auto fits = [](const window_axis& axis) {
    return std::max({axis.size, axis.stride, axis.dilation, axis.before, axis.after}) < small &&
           std::max(axis.in, axis.out) < large && axis.reach() < small;
  };
  return std::ranges::all_of(geometry.axes, fits) && geometry.images < large &&
         geometry.in_channels < large && geometry.out_channels < large &&
         geometry.inputs() < large && geometry.outputs() < large;
}

/// The number of images per job for Winograd's algorithm F(4x4, 3x3) (Lavin and Gray 2015): enough
/// to amortize the transformation of the filter, while no thread is idle. 0 where the direct
/// algorithm is faster.
int64_t images_by_winograd(const convolution_shape& geometry, int threads) {
  const auto &rows = geometry.axes[1], &columns = geometry.axes[2];
  auto fits = [](const window_axis& axis) {
    return axis.size == 3 && axis.stride == 1 && axis.dilation == 1;
  };
  if (geometry.spatial != 2 || geometry.groups != 1 || !fits(rows) || !fits(columns))
    return 0;
  auto tiles = ((rows.out + 3) / 4) * ((columns.out + 3) / 4); // per image
  auto share = (geometry.images + (threads > 0 ? threads : 4) - 1) / (threads > 0 ? threads : 4);
  auto images = std::clamp<int64_t>((1000 + tiles - 1) / tiles, 1, share);
  // Nanoseconds, measured. Each tile and the filter cost some per pair of channels; reordering the
  // operands costs some per element.
  auto pairs =
      static_cast<double>(geometry.in_channels) * static_cast<double>(geometry.out_channels);
  auto pixels = static_cast<double>(images * geometry.outputs());
  auto elements = pixels * static_cast<double>(geometry.in_channels + geometry.out_channels);
  auto nanoseconds = pairs * (0.7 * static_cast<double>(images * tiles) + 40) + 1.3 * elements;
  return nanoseconds < 0.11 * pixels * pairs ? images : 0;
}

// oneDNN's ReLU would turn NaN into 0. The written output is still in the cache.
void rectify(float* values, size_t count) {
  for (size_t i = 0; i < count; ++i)
    values[i] = values[i] <= 0 ? 0 : values[i];
}

/// The bands of a convolution, and their primitives.
class convolution_jobs final : public onednn_convolution {
public:
  convolution_jobs(const convolution_shape& geometry, role computes, int threads,
                   const convolution_end& end)
      : of_(geometry), computes_(computes), end_(end), user_filter_(filter(geometry)) {
    if (!by_winograd(threads))
      directly(threads);
    nanoseconds_ = geometry.multiplications() / static_cast<double>(jobs_.size()) * 0.02;
  }

  status run(kernel_context& at, convolution_data<float> data) const override {
    return computes_ == role::filter ? run_filter(at, data) : run_bands(at, data);
  }

private:
  size_t outermost() const { return static_cast<size_t>(3 - of_.spatial); }

  bool by_winograd(int threads) {
    auto images = images_by_winograd(of_, threads);
    if (images == 0)
      return false;
    try {
      winograd_ = true;
      group_images(images);
      if (bands_agree())
        return true;
    } catch (const dnnl::error&) { // unsupported on this processor or version
    }
    forget();
    winograd_ = false;
    return false;
  }

  void directly(int threads) {
    auto image_cost = of_.multiplications() / static_cast<double>(of_.images);
    auto jobs = threads > 0 ? threads : enough_jobs;
    if (computes_ != role::filter)
      jobs = std::max(jobs, enough_jobs);
    auto job_limit = static_cast<int64_t>(of_.multiplications() / multiplications_per_job);
    jobs = std::clamp<int64_t>(jobs, 1, std::max<int64_t>(1, job_limit));
    if (of_.images < jobs && computes_ != role::input && !of_.channels_first &&
        image_cost > 2 * multiplications_per_job)
      cut_images((jobs + of_.images - 1) / of_.images);
    if (jobs_.empty() || !bands_agree()) {
      forget();
      group_images(computes_ == role::filter || image_cost < multiplications_per_job
                       ? (of_.images + jobs - 1) / jobs
                       : 1);
    }
    if (!bands_agree())
      throw dnnl::error{dnnl_unimplemented, "bands differ"};
  }

  void add(const band& piece, int64_t input, int64_t output) {
    auto known_band = std::ranges::find(bands_, piece);
    auto place = static_cast<size_t>(known_band - bands_.begin());
    if (known_band == bands_.end()) {
      auto part = of_;
      part.images = piece.images;
      part.axes[outermost()] = piece.rows;
      primitives_.push_back(make_primitive(part, computes_, winograd_, end_));
      bands_.push_back(piece);
    }
    jobs_.push_back({place, input, output});
  }

  // Bands of different heights may need different filter layouts; the filter is reordered only
  // once.
  bool bands_agree() const {
    return std::ranges::all_of(primitives_, [&](const auto& primitive) {
      return primitive.filter == primitives_.front().filter;
    });
  }

  void forget() {
    bands_.clear();
    primitives_.clear();
    jobs_.clear();
  }

  void group_images(int64_t images_per_job) {
    auto input = of_.in_channels * of_.inputs(), output = of_.out_channels * of_.outputs();
    for (int64_t i = 0; i < of_.images; i += images_per_job)
      add({std::min(images_per_job, of_.images - i), of_.axes[outermost()]}, i * input, i * output);
  }

  // The rows of an image are adjacent in memory, as the channels come last.
  void cut_images(int64_t pieces) {
    const auto& image_axis = of_.axes[outermost()];
    auto rows_per_job = std::max<int64_t>(4, (image_axis.out + pieces - 1) / pieces);
    auto input_row = of_.in_channels * of_.inputs() / image_axis.in;
    auto output_row = of_.out_channels * of_.outputs() / image_axis.out;
    for (int64_t image = 0; image < of_.images; ++image)
      for (int64_t i = 0; i < image_axis.out; i += rows_per_job) {
        auto part = image_axis;
        part.out = std::min(rows_per_job, image_axis.out - i);
        auto first = i * image_axis.stride - image_axis.before;
        auto last = first + (part.out - 1) * image_axis.stride + image_axis.reach();
        part.before = std::max<int64_t>(0, -first);
        part.after = std::max<int64_t>(0, last - image_axis.in);
        part.in = std::min(last, image_axis.in) - std::max<int64_t>(0, first);
        if (part.in < 1) { // only padding
          jobs_.clear();
          return;
        }
        add({1, part}, (image * image_axis.in + std::max<int64_t>(0, first)) * input_row,
            (image * image_axis.out + i) * output_row);
      }
  }

  /// The memory of a job apart from its operands.
  struct staging {
    tensor scratchpad, input, output;
  };

  result<staging> stage(kernel_context& at, const band_primitive& primitive) const {
    staging buffers;
    TROUPE_ASSIGN(buffers.scratchpad, onednn::buffer_of(at, primitive.scratchpad.get_size()));
    if (primitive.input != primitive.user_input) {
      TROUPE_ASSIGN(buffers.input, onednn::buffer_of(at, primitive.input.get_size()));
    }
    if (primitive.output != primitive.user_output) {
      TROUPE_ASSIGN(buffers.output, onednn::buffer_of(at, primitive.output.get_size()));
    }
    return buffers;
  }

  // Runs a job with the filter in the primitive's layout.
  status run_job(kernel_context& at, dnnl::stream& stream, const job& piece,
                 convolution_data<float> data, float* filter) const {
    const auto& primitive = primitives_[piece.primitive];
    TROUPE_ASSIGN(auto memory, stage(at, primitive));
    auto user_input = onednn::over(primitive.user_input, data.input + piece.input);
    auto user_output = onednn::over(primitive.user_output, data.output + piece.output);
    auto input =
        memory.input.empty() ? user_input : onednn::over(primitive.input, memory.input.raw());
    auto output =
        memory.output.empty() ? user_output : onednn::over(primitive.output, memory.output.raw());
    if (!memory.input.empty() && computes_ != role::input)
      dnnl::reorder{user_input, input}.execute(stream, user_input, input);
    if (!memory.output.empty() && computes_ != role::output)
      dnnl::reorder{user_output, output}.execute(stream, user_output, output);
    const auto& name = arguments_of(computes_);
    std::unordered_map<int, dnnl::memory> arguments{
        {name[0], input},
        {name[1], onednn::over(primitive.filter, filter)},
        {name[2], output},
        {DNNL_ARG_SCRATCHPAD, onednn::over(primitive.scratchpad, memory.scratchpad.raw())}};
    if (end_.bias)
      arguments.emplace(DNNL_ARG_BIAS, onednn::over(bias_of(of_), data.bias));
    primitive.run.execute(stream, arguments);
    if (end_.rectify)
      rectify(static_cast<float*>(output.get_data_handle()),
              primitive.output.get_size() / sizeof(float));
    if (!memory.input.empty() && computes_ == role::input)
      dnnl::reorder{input, user_input}.execute(stream, input, user_input);
    if (!memory.output.empty() && computes_ == role::output)
      dnnl::reorder{output, user_output}.execute(stream, output, user_output);
    return {};
  }

  // Reorders the filter into the primitives' layout, or back.
  status reorder_filter(kernel_context& at, const memory::desc& from, const void* source,
                        const memory::desc& to, void* target) const {
    return onednn::for_each_job(at, 1, 0, [&](dnnl::stream& on, int64_t) -> status {
      auto before = onednn::over(from, source), after = onednn::over(to, target);
      dnnl::reorder{before, after}.execute(on, before, after);
      return {};
    });
  }

  status run_bands(kernel_context& at, convolution_data<float> data) const {
    const auto& layout = primitives_.front().filter;
    auto* filter = data.filter;
    tensor ordered;
    if (layout != user_filter_) {
      TROUPE_ASSIGN(ordered, onednn::buffer_of(at, layout.get_size()));
      filter = static_cast<float*>(ordered.raw());
      TROUPE_TRY(reorder_filter(at, user_filter_, data.filter, layout, filter));
    }
    return onednn::for_each_job(
        at, static_cast<int64_t>(jobs_.size()), nanoseconds_, [&](dnnl::stream& on, int64_t i) {
          return run_job(at, on, jobs_[static_cast<size_t>(i)], data, filter);
        });
  }

  // Each job computes its own filter gradient; these are added in the order of the jobs.
  status run_filter(kernel_context& at, convolution_data<float> data) const {
    const auto& layout = primitives_.front().filter;
    auto in_place = jobs_.size() == 1 && layout == user_filter_;
    auto floats = static_cast<int64_t>(layout.get_size() / sizeof(float));
    tensor sums;
    if (!in_place) {
      TROUPE_ASSIGN(auto extents,
                    shape::make(std::array{static_cast<int64_t>(jobs_.size()), floats}));
      TROUPE_ASSIGN(sums, tensor::make(dtype::f32, extents, at.memory()));
    }
    auto* first = in_place ? data.filter : sums.data<float>();
    TROUPE_TRY(onednn::for_each_job(
        at, static_cast<int64_t>(jobs_.size()), nanoseconds_, [&](dnnl::stream& on, int64_t i) {
          return run_job(at, on, jobs_[static_cast<size_t>(i)], data, first + i * floats);
        }));
    if (in_place)
      return {};
    at.parallel_for(floats, 0.3 * static_cast<double>(jobs_.size()),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t part = 1; part < static_cast<int64_t>(jobs_.size()); ++part)
                        for (auto i = begin; i < end; ++i)
                          first[i] += first[part * floats + i];
                    });
    return reorder_filter(at, layout, first, user_filter_, data.filter);
  }

  convolution_shape of_;
  role computes_;
  convolution_end end_;
  bool winograd_ = false;
  memory::desc user_filter_;
  std::vector<band> bands_;
  std::vector<band_primitive> primitives_; // one per band
  std::vector<job> jobs_;
  double nanoseconds_ = 0;
};

} // namespace

std::shared_ptr<const onednn_convolution>
onednn_convolution::make(const convolution_shape& geometry, convolution_role computes, int threads,
                         const convolution_end& end) try {
  if (!of_ordinary_size(geometry))
    return nullptr;
  one_openmp_thread guard;
  return std::make_shared<convolution_jobs>(geometry, computes, threads, end);
} catch (const dnnl::error&) {
  return nullptr;
}

} // namespace troupe::ops
