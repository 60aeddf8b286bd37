#include "troupe/ops/conv/shared/onednn_convolution.cpu.hpp"

#include "troupe/ops/conv/shared/onednn.cpu.hpp"

namespace troupe::ops {
namespace {

using dnnl::memory;
using dims = memory::dims;
using role = convolution_role;
constexpr auto f32 = memory::data_type::f32;

/// A job has about this many multiplications, a tenth of a millisecond.
constexpr double multiplications_per_job = 5e6;
/// As many jobs as keep many threads busy, where a shape alone decides.
constexpr int64_t enough_jobs = 16;

/// Some images, or some rows of the output of one, with the rows of the input that they need.
struct band {
  int64_t images;
  window_axis rows; // the outermost axis
  bool operator==(const band&) const = default;
};

struct job {
  size_t primitive;
  int64_t input, output; // the first element
};

dims outer(const convolution_shape& of, int64_t window_axis::*what) {
  dims made;
  for (auto i = 3 - of.spatial; i < 3; ++i)
    made.push_back(of.axes[static_cast<size_t>(i)].*what);
  return made;
}

// oneDNN names extents in the order images, channels, axes, however they lie in memory.
dims activation_dims(const convolution_shape& of, int64_t channels, int64_t window_axis::*extent) {
  auto made = outer(of, extent);
  made.insert(made.begin(), {of.images, channels});
  return made;
}

memory::desc activation(const dims& extents, bool channels_first) {
  auto plain = extents.size() == 4 ? memory::format_tag::nchw : memory::format_tag::ncdhw;
  auto last = extents.size() == 4 ? memory::format_tag::nhwc : memory::format_tag::ndhwc;
  return {extents, f32, channels_first ? plain : last};
}

dims filter_dims(const convolution_shape& of) {
  auto made = outer(of, &window_axis::size);
  made.insert(made.begin(), {of.group_outputs(), of.group_inputs()});
  if (of.groups > 1)
    made.insert(made.begin(), of.groups);
  return made;
}

// As users have it: axes, inputs of a group, outputs of all groups.
memory::desc filter(const convolution_shape& of) {
  auto extents = filter_dims(of);
  dims strides(extents.size());
  auto next = of.out_channels * of.group_inputs();
  for (auto i = extents.size(); i-- > extents.size() - static_cast<size_t>(of.spatial);) {
    strides[i] = next;
    next *= extents[i];
  }
  auto at = strides.begin();
  if (of.groups > 1)
    *at++ = of.group_outputs();
  *at++ = 1;
  *at = of.out_channels;
  return {extents, f32, strides};
}

/// What oneDNN calls input, filter and output.
const std::array<int, 3>& arguments_of(role computes) {
  static constexpr std::array<int, 3> names[] = {
      {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST},
      {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST},
      {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
  };
  return names[static_cast<size_t>(computes)];
}

/// What runs a band: the primitive, and how it wants its operands to lie.
struct band_primitive {
  dnnl::primitive run;
  memory::desc input, filter, output, scratchpad;
  memory::desc user_input, user_output;
};

memory::desc bias_of(const convolution_shape& of) {
  return {{of.out_channels}, f32, memory::format_tag::x};
}

band_primitive make_primitive(const convolution_shape& of, role computes, bool winograd,
                              const convolution_end& end) {
  auto attr = onednn::with_own_scratchpad();
  auto input = activation_dims(of, of.in_channels, &window_axis::in);
  auto output = activation_dims(of, of.out_channels, &window_axis::out);
  band_primitive made;
  made.user_input = activation(input, of.channels_first);
  made.user_output = activation(output, of.channels_first);
  // Measured: activations with the channels last and a filter as oneDNN likes it are faster than
  // activations as oneDNN likes them, which would have to be put in order and back. Winograd's
  // algorithm has no choice, and gains enough.
  auto any = [](const dims& extents) {
    return memory::desc{extents, f32, memory::format_tag::any};
  };
  auto x = winograd ? any(input) : activation(input, false);
  auto y = winograd ? any(output) : activation(output, false);
  auto w = any(filter_dims(of));
  auto strides = outer(of, &window_axis::stride), dilations = outer(of, &window_axis::dilation);
  for (auto& dilation : dilations)
    --dilation; // oneDNN counts the elements between
  auto before = outer(of, &window_axis::before), after = outer(of, &window_axis::after);
  constexpr auto direct = dnnl::algorithm::convolution_direct;
  auto algorithm = winograd ? dnnl::algorithm::convolution_winograd : direct;
  // For inference a filter would be transformed in advance, by a slow loop.
  auto kind = computes == role::output && !winograd ? dnnl::prop_kind::forward_inference
                                                    : dnnl::prop_kind::forward_training;
  auto forward = onednn::describe<dnnl::convolution_forward>(
      attr, kind, computes == role::output ? algorithm : direct, x, w,
      end.bias ? bias_of(of) : memory::desc{}, y, strides, dilations, before, after);
  auto finish = [&](auto primitive, const auto& described) {
    made.run = std::move(primitive);
    auto layout_of = [&, name = arguments_of(computes)](size_t i) {
      return described.query_md(dnnl::query::exec_arg_md, name[i]);
    };
    made.input = layout_of(0);
    made.filter = layout_of(1);
    made.output = layout_of(2);
    made.scratchpad = described.scratchpad_desc();
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
  // It writes past the caches, which memory of users need not be aligned for.
  if (winograd && (made.input == made.user_input || made.output == made.user_output))
    throw dnnl::error{dnnl_unimplemented, "operands would not be copied"};
  return made;
}

// oneDNN computes with 32 bits here and there.
bool of_ordinary_size(const convolution_shape& of) {
  constexpr int64_t small = 1 << 14, large = 1 << 30;
  auto fits = [](const window_axis& axis) {
    return std::max({axis.size, axis.stride, axis.dilation, axis.before, axis.after}) < small &&
           std::max(axis.in, axis.out) < large && axis.reach() < small;
  };
  return std::ranges::all_of(of.axes, fits) && of.images < large && of.in_channels < large &&
         of.out_channels < large && of.inputs() < large && of.outputs() < large;
}

/// By Winograd's algorithm F(4x4, 3x3) (Lavin and Gray 2015): as many images at once as make up for
/// transforming the filter, while no thread goes without. 0 where the direct way is faster.
int64_t images_by_winograd(const convolution_shape& of, int threads) {
  const auto &rows = of.axes[1], &columns = of.axes[2];
  auto fits = [](const window_axis& axis) {
    return axis.size == 3 && axis.stride == 1 && axis.dilation == 1;
  };
  if (of.spatial != 2 || of.groups != 1 || !fits(rows) || !fits(columns))
    return 0;
  auto tiles = ((rows.out + 3) / 4) * ((columns.out + 3) / 4); // of an image
  auto share = (of.images + (threads > 0 ? threads : 4) - 1) / (threads > 0 ? threads : 4);
  auto images = std::clamp<int64_t>((1000 + tiles - 1) / tiles, 1, share);
  // Nanoseconds, measured: each tile and the filter take some for each pair of channels, bringing
  // operands in order for each element.
  auto pairs = static_cast<double>(of.in_channels) * static_cast<double>(of.out_channels);
  auto pixels = static_cast<double>(images * of.outputs());
  auto elements = pixels * static_cast<double>(of.in_channels + of.out_channels);
  auto nanoseconds = pairs * (0.7 * static_cast<double>(images * tiles) + 40) + 1.3 * elements;
  return nanoseconds < 0.11 * pixels * pairs ? images : 0;
}

// oneDNN would make 0 of NaN, too. What it has written is still in the cache.
void rectify(float* values, size_t count) {
  for (size_t i = 0; i < count; ++i)
    values[i] = values[i] <= 0 ? 0 : values[i];
}

/// How a convolution is cut into bands, and what runs them.
class convolution_jobs final : public onednn_convolution {
public:
  convolution_jobs(const convolution_shape& of, role computes, int threads,
                   const convolution_end& end)
      : of_(of), computes_(computes), end_(end), user_filter_(filter(of)) {
    if (!by_winograd(threads))
      directly(threads);
    nanoseconds_ = of.multiplications() / static_cast<double>(jobs_.size()) * 0.02;
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
    } catch (const dnnl::error&) { // not for this processor or version
    }
    forget();
    winograd_ = false;
    return false;
  }

  void directly(int threads) {
    auto each = of_.multiplications() / static_cast<double>(of_.images); // of an image
    auto jobs = threads > 0 ? threads : enough_jobs;
    if (computes_ != role::filter)
      jobs = std::max(jobs, enough_jobs);
    auto most = static_cast<int64_t>(of_.multiplications() / multiplications_per_job);
    jobs = std::clamp<int64_t>(jobs, 1, std::max<int64_t>(1, most));
    if (of_.images < jobs && computes_ != role::input && !of_.channels_first &&
        each > 2 * multiplications_per_job)
      cut_images((jobs + of_.images - 1) / of_.images);
    if (jobs_.empty() || !bands_agree()) {
      forget();
      group_images(computes_ == role::filter || each < multiplications_per_job
                       ? (of_.images + jobs - 1) / jobs
                       : 1);
    }
    if (!bands_agree())
      throw dnnl::error{dnnl_unimplemented, "bands differ"};
  }

  void add(const band& what, int64_t input, int64_t output) {
    auto found = std::ranges::find(bands_, what);
    auto place = static_cast<size_t>(found - bands_.begin());
    if (found == bands_.end()) {
      auto part = of_;
      part.images = what.images;
      part.axes[outermost()] = what.rows;
      primitives_.push_back(make_primitive(part, computes_, winograd_, end_));
      bands_.push_back(what);
    }
    jobs_.push_back({place, input, output});
  }

  // Bands of other heights may want the filter to lie in another way; it is put in order only once.
  bool bands_agree() const {
    return std::ranges::all_of(
        primitives_, [&](const auto& one) { return one.filter == primitives_.front().filter; });
  }

  void forget() {
    bands_.clear();
    primitives_.clear();
    jobs_.clear();
  }

  void group_images(int64_t each) {
    auto input = of_.in_channels * of_.inputs(), output = of_.out_channels * of_.outputs();
    for (int64_t i = 0; i < of_.images; i += each)
      add({std::min(each, of_.images - i), of_.axes[outermost()]}, i * input, i * output);
  }

  // Rows of an image are neighbours in memory, as the channels come last.
  void cut_images(int64_t pieces) {
    const auto& whole = of_.axes[outermost()];
    auto each = std::max<int64_t>(4, (whole.out + pieces - 1) / pieces);
    auto input_row = of_.in_channels * of_.inputs() / whole.in;
    auto output_row = of_.out_channels * of_.outputs() / whole.out;
    for (int64_t image = 0; image < of_.images; ++image)
      for (int64_t i = 0; i < whole.out; i += each) {
        auto part = whole;
        part.out = std::min(each, whole.out - i);
        auto first = i * whole.stride - whole.before;
        auto last = first + (part.out - 1) * whole.stride + whole.reach();
        part.before = std::max<int64_t>(0, -first);
        part.after = std::max<int64_t>(0, last - whole.in);
        part.in = std::min(last, whole.in) - std::max<int64_t>(0, first);
        if (part.in < 1) { // nothing but padding
          jobs_.clear();
          return;
        }
        add({1, part}, (image * whole.in + std::max<int64_t>(0, first)) * input_row,
            (image * whole.out + i) * output_row);
      }
  }

  /// Memory that a job needs beside its operands.
  struct staging {
    tensor scratchpad, input, output;
  };

  result<staging> stage(kernel_context& at, const band_primitive& of) const {
    staging made;
    TROUPE_ASSIGN(made.scratchpad, onednn::buffer_of(at, of.scratchpad.get_size()));
    if (of.input != of.user_input) {
      TROUPE_ASSIGN(made.input, onednn::buffer_of(at, of.input.get_size()));
    }
    if (of.output != of.user_output) {
      TROUPE_ASSIGN(made.output, onednn::buffer_of(at, of.output.get_size()));
    }
    return made;
  }

  // Runs a job with the filter as the primitive wants it.
  status run_job(kernel_context& at, dnnl::stream& on, const job& what,
                 convolution_data<float> data, float* filter) const {
    const auto& by = primitives_[what.primitive];
    TROUPE_ASSIGN(auto memory, stage(at, by));
    auto user_input = onednn::over(by.user_input, data.input + what.input);
    auto user_output = onednn::over(by.user_output, data.output + what.output);
    auto input = memory.input.empty() ? user_input : onednn::over(by.input, memory.input.raw());
    auto output =
        memory.output.empty() ? user_output : onednn::over(by.output, memory.output.raw());
    if (!memory.input.empty() && computes_ != role::input)
      dnnl::reorder{user_input, input}.execute(on, user_input, input);
    if (!memory.output.empty() && computes_ != role::output)
      dnnl::reorder{user_output, output}.execute(on, user_output, output);
    const auto& name = arguments_of(computes_);
    std::unordered_map<int, dnnl::memory> arguments{
        {name[0], input},
        {name[1], onednn::over(by.filter, filter)},
        {name[2], output},
        {DNNL_ARG_SCRATCHPAD, onednn::over(by.scratchpad, memory.scratchpad.raw())}};
    if (end_.bias)
      arguments.emplace(DNNL_ARG_BIAS, onednn::over(bias_of(of_), data.bias));
    by.run.execute(on, arguments);
    if (end_.rectify)
      rectify(static_cast<float*>(output.get_data_handle()), by.output.get_size() / sizeof(float));
    if (!memory.input.empty() && computes_ == role::input)
      dnnl::reorder{input, user_input}.execute(on, input, user_input);
    if (!memory.output.empty() && computes_ == role::output)
      dnnl::reorder{output, user_output}.execute(on, output, user_output);
    return {};
  }

  // Puts the filter into the order that primitives want, or out of it.
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

  // Each job has a gradient of its own; they are added up in the order of the jobs.
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
  std::vector<band_primitive> primitives_; // one for each band
  std::vector<job> jobs_;
  double nanoseconds_ = 0;
};

} // namespace

std::shared_ptr<const onednn_convolution> onednn_convolution::make(const convolution_shape& of,
                                                                   convolution_role computes,
                                                                   int threads,
                                                                   const convolution_end& end) try {
  if (!of_ordinary_size(of))
    return nullptr;
  one_openmp_thread guard;
  return std::make_shared<convolution_jobs>(of, computes, threads, end);
} catch (const dnnl::error&) {
  return nullptr;
}

} // namespace troupe::ops
