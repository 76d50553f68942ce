// How near an answer must be.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/host_tensor.h"

namespace reprise::conformance {

// |got - want| <= absolute + relative * |want|; 0 and 0: equal.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

// For elements of `dtype` that were computed as `precision` (of LoadOptions)
// says; none for what is not a float.
Tolerance ToleranceOf(DType dtype, absl::string_view precision);

// The first difference, in words: "row 2, element 17: got 1.5, want 1.25";
// empty if there is none. NaN equals NaN. Axis 0 of `rows` rows is left out of
// the element's number; 0: there are no rows.
std::string FirstDifference(const HostTensor& got, const HostTensor& want,
                            const Tolerance& tolerance, int rows);

}  // namespace reprise::conformance
