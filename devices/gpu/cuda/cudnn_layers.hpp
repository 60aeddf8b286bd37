// The layers of cuDNN; each family has its own source.
#pragma once
#include "troupe/devices/gpu/cuda/layers.hpp"

namespace troupe::gpu {

/// Whether cuDNN documents the behaviour that the layer requires.
bool cudnn_offers(const pooling_layer& problem);
bool cudnn_offers(const softmax_layer& problem);
bool cudnn_offers(const lrn_layer& problem);
bool cudnn_offers(const batch_norm_layer& problem);

class cudnn_layers final : public layer_library {
public:
  bool offers(const layer& candidate) const override {
    return std::visit([](const auto& problem) { return cudnn_offers(problem); }, candidate);
  }

  // pool.cpp
  status pool(const call& at, const pooling_layer& problem, const void* x, void* y) override;
  status pool_back(const call& at, const pooling_layer& problem, const void* x, const void* dy,
                   void* dx) override;
  // softmax.cpp
  status softmax(const call& at, const softmax_layer& problem, const void* x, void* y) override;
  // lrn.cpp
  status lrn(const call& at, const lrn_layer& problem, const void* x, void* y) override;
  status lrn_back(const call& at, const lrn_layer& problem, const void* x, const void* y,
                  const void* dy, void* dx) override;
  // batch_norm.cpp
  status normalize(const call& at, const batch_norm_layer& problem, const void* x,
                   const factors& affine, void* mean, void* variance, void* y) override;
  status normalize_back(const call& at, const batch_norm_layer& problem, const normalized& forward,
                        const void* dy, void* dx, void* dscale, void* doffset) override;
};

} // namespace troupe::gpu
