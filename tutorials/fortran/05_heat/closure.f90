! SPDX-License-Identifier: BSD-2-Clause
! A small convolutional network beside the solver. It computes from the solver's field u the radiation, which the
! reduced model lacks. All calls of Tenon are in this part of the program.
module closure
  use heat
  use tenon
  implicit none
  private
  public :: closure_create, closure_destroy, closure_apply, closure_train
  ! The unit of the network's output, so that its weights are of order 1.
  real(real64), parameter :: unit = 0.02_real64
  integer, parameter :: hidden = 16
  type(tenon_layout) :: layout ! (x, y, channel, batch), the solver's decomposition
  type(tenon_layer) :: network
  type(tenon_optimizer) :: optimizer
  type(tenon_dtensor) :: input, output, cotangent
contains
  ! A function of the 3 x 3 neighbourhood, with 1 -> 16 -> 1 channels. The optimizer is SGD with momentum rather than
  ! Adam: its path is smooth, so that rounding differences between numbers of processes do not reach the printed
  ! digits.
  subroutine closure_create()
    type(tenon_layer) :: tanh_layer
    call tenon_layout_create_from_boxes(plate, [x0, y0, 1, 1], [x1, y1, 1, 1], layout, shape=[nx, ny, 1, 1])
    call tenon_dtensor_create(layout, TENON_FLOAT64, input)
    call tenon_layer_create_sequential(plate, network)
    call add_convolution(1, hidden, 3)
    call tenon_layer_create_type(plate, 'tanh', tanh_layer)
    call tenon_layer_sequential_add(network, tanh_layer)
    call tenon_destroy(tanh_layer)
    call add_convolution(hidden, 1, 1)
    call tenon_layer_set_data_type(network, TENON_FLOAT64)
    call tenon_set_from_options(network)
    call tenon_layer_set_up(network, layout)
    call tenon_layer_initialize(network, 1)
    call tenon_optimizer_create(network, 'sgd', optimizer)
    call tenon_set_real(optimizer, 'momentum', 0.9_real64)
    call tenon_optimizer_set_learning_rate(optimizer, 0.025_real64)
    call tenon_set_from_options(optimizer)
    call tenon_layer_create_output(network, 1, output)
    call tenon_layer_create_output_cotangent(network, 1, cotangent)
    ! The solver's arrays are on the host, wherever the network runs (-tenon_space device).
    call tenon_dtensor_set_space(output, TENON_MEMORY_HOST)
    call tenon_dtensor_set_space(cotangent, TENON_MEMORY_HOST)
  end subroutine closure_create

  subroutine add_convolution(in, out, width)
    integer, intent(in) :: in, out, width
    type(tenon_layer) :: layer
    call tenon_layer_create_conv(plate, in, out, [width, width], layer)
    call tenon_layer_set_padding(layer, [width/2, width/2]) ! zero: it is cold outside
    call tenon_layer_sequential_add(network, layer)
    call tenon_destroy(layer)
  end subroutine add_convolution

  subroutine closure_destroy()
    call tenon_destroy(cotangent)
    call tenon_destroy(output)
    call tenon_destroy(input)
    call tenon_destroy(optimizer)
    call tenon_destroy(network)
    call tenon_destroy(layout)
  end subroutine closure_destroy

  ! r <- network(u); u and r are arrays of the solver, used in place.
  subroutine closure_apply(u, r)
    real(real64), intent(inout), target :: u(x0 - ghost:, y0 - ghost:), r(x0 - ghost:, y0 - ghost:)
    call evaluate(u, r, .false.)
  end subroutine closure_apply

  subroutine evaluate(u, r, training)
    real(real64), intent(inout), target :: u(x0 - ghost:, y0 - ghost:), r(x0 - ghost:, y0 - ghost:)
    logical, intent(in) :: training
    call tenon_place(input, u(x0:x1, y0:y1), array=u)
    call tenon_place(output, r(x0:x1, y0:y1), array=r)
    call tenon_layer_set_training(network, training)
    call tenon_layer_apply(network, input, output)
    r(x0:x1, y0:y1) = unit*r(x0:x1, y0:y1)
  end subroutine evaluate

  ! One training step towards network(u) = wanted; work is a scratch field. error is the root mean square of the
  ! difference before the step. The loss L is the mean square of output - wanted, so dL/doutput is
  ! 2 (output - wanted) / cells; the solver computes it in its own arrays.
  subroutine closure_train(u, wanted, work, error)
    real(real64), intent(inout), target :: u(x0 - ghost:, y0 - ghost:), work(x0 - ghost:, y0 - ghost:)
    real(real64), intent(in) :: wanted(x0 - ghost:, y0 - ghost:)
    real(real64), intent(out) :: error
    call evaluate(u, work, .true.)
    error = distance(work, wanted)
    work(x0:x1, y0:y1) = 2/(unit*nx*ny)*(work(x0:x1, y0:y1) - wanted(x0:x1, y0:y1))
    call tenon_place(cotangent, work(x0:x1, y0:y1), array=work)
    call tenon_layer_apply_adjoint(network, cotangent)
    call tenon_optimizer_step(optimizer)
  end subroutine closure_train
end module closure
