! SPDX-License-Identifier: BSD-2-Clause
! Compares the models from a start that was not used for training: errors, stability, spectrum.
module water_use
  use water_experiment
  implicit none
  private
  public :: use_truth, use_models
  integer, parameter :: reports = 4, bands = 4
  real(real64), parameter :: pi = 3.14159265358979323846_real64
  ! A flow has blown up if its velocity is this large, in units of the wave speed.
  real(real64), parameter :: blow_up = 2.5_real64
  character(len=8), parameter :: names(models) = ['bare    ', 'offline ', 'one step', 'in loop ']
contains
  ! Runs the truth from the other start and keeps its samples.
  subroutine use_truth(x)
    type(experiment_t), intent(inout) :: x
    integer :: n
    call truth_start(x%truth, x%settings%start, x%settings%spinup)
    call truth_sample(x%truth, x%grid, x%unseen(:, :, :, 0))
    do n = 1, x%settings%use
      call truth_step(x%truth)
      call truth_sample(x%truth, x%grid, x%unseen(:, :, :, n))
    end do
  end subroutine use_truth

  ! q <- S(q) + the model's change.
  subroutine step_model(x, model, q, change)
    type(experiment_t), intent(inout) :: x
    integer, intent(in) :: model
    real(real64), intent(inout), target :: q(1 - ghost:, 1 - ghost:, :), change(1 - ghost:, 1 - ghost:, :)
    if (model == offline) call regression_apply(x%regression, x%solver, q, change)
    if (model == one_step) call closure_apply(x%one_step, .false., q, change)
    if (model == in_loop) call closure_apply(x%in_loop, .false., q, change)
    call step(x%solver, q)
    if (model /= bare) q = q + change
  end subroutine step_model

  ! errors(n) is that of the velocity after n steps; q ends as the flow after the last.
  subroutine run_model(x, model, q, errors)
    type(experiment_t), intent(inout) :: x
    integer, intent(in) :: model
    real(real64), allocatable, target, intent(out) :: q(:, :, :)
    real(real64), intent(out) :: errors(:)
    real(real64), allocatable, target :: change(:, :, :)
    integer :: n
    call create_field(x%grid, q)
    call create_field(x%grid, change)
    q = x%unseen(:, :, :, 0)
    do n = 1, size(errors)
      call step_model(x, model, q, change)
      errors(n) = velocity(x%grid, q - x%unseen(:, :, :, n))
    end do
  end subroutine run_model

  subroutine print_errors(use_steps, errors)
    integer, intent(in) :: use_steps
    real(real64), intent(in) :: errors(:, :)
    integer :: n, report
    print '(a)', 'velocity error     bare   offline  one step   in loop   in loop / bare'
    do report = 1, reports
      n = report*use_steps/reports
      print '(a, i4, 9a, f10.2)', 'step ', n, '     ', '  ', scientific(errors(n, bare), 2), '  ', &
        scientific(errors(n, offline), 2), '  ', scientific(errors(n, one_step), 2), '  ', &
        scientific(errors(n, in_loop), 2), errors(n, in_loop)/errors(n, bare)
    end do
  end subroutine print_errors

  ! The step after which the flow has blown up, or -1.
  subroutine find_blow_up(x, model, blown, speed)
    type(experiment_t), intent(inout) :: x
    integer, intent(in) :: model
    integer, intent(out) :: blown
    real(real64), intent(out) :: speed
    real(real64), allocatable, target :: q(:, :, :), change(:, :, :)
    integer :: n
    call create_field(x%grid, q)
    call create_field(x%grid, change)
    blown = -1
    speed = 0
    q = x%unseen(:, :, :, 0)
    do n = 1, x%settings%stable
      call step_model(x, model, q, change)
      speed = velocity(x%grid, q)
      if (speed < blow_up) cycle
      blown = n ! also if speed is not a number
      exit
    end do
  end subroutine find_blow_up

  subroutine print_stability(x)
    type(experiment_t), intent(inout) :: x
    real(real64) :: speed
    integer :: model, blown
    do model = 1, models
      call find_blow_up(x, model, blown, speed)
      if (x%grid%rank /= 0) cycle
      if (blown < 0) then
        print '(2a, i0, a, f5.3)', names(model), ' no blow-up in ', x%settings%stable, ' steps, velocity then ', speed
      else
        print '(2a, i0)', names(model), ' blows up at step ', blown
      end if
    end do
  end subroutine print_stability

  ! The field of all processes on process 0, by one conversion to a layout that has everything on the root.
  subroutine gather(g, q, whole)
    type(grid_t), intent(in) :: g
    real(real64), intent(inout), target :: q(1 - ghost:, 1 - ghost:, :)
    real(real64), intent(out) :: whole(:, :, :)
    type(tenon_layout) :: root
    type(tenon_linearop) :: to_root
    type(tenon_dtensor) :: all
    real(real64), pointer :: values(:, :, :, :)
    call tenon_layout_create_like(g%plain, root)
    call tenon_layout_set_properties(root, 'R,R,R,R')
    call tenon_layout_set_up(root)
    call tenon_linearop_create_conversion(g%plain, root, TENON_FLOAT64, to_root)
    call tenon_dtensor_create(root, TENON_FLOAT64, all)
    call tenon_place(g%owned, q(1:g%nx, 1:g%ny, :), array=q)
    call tenon_linearop_apply(to_root, g%owned, all)
    call tenon_get_array_read(all, values)
    if (g%rank == 0) whole = values(:, :, :, 1)
    call tenon_restore_array_read(all, values)
    call tenon_destroy(all)
    call tenon_destroy(to_root)
    call tenon_destroy(root)
  end subroutine gather

  ! |Fourier coefficient|^2 of a component for the wave (k, l), by its definition.
  real(real64) function power(component, k, l, cosine, sine)
    real(real64), intent(in) :: component(0:, 0:), cosine(0:), sine(0:)
    integer, intent(in) :: k, l
    real(real64) :: re, im
    integer :: i, j, angle
    re = 0
    im = 0
    do j = 0, size(cosine) - 1
      do i = 0, size(cosine) - 1
        angle = modulo(k*i + l*j, size(cosine))
        re = re + component(i, j)*cosine(angle)
        im = im + component(i, j)*sine(angle)
      end do
    end do
    power = (re*re + im*im)/real(size(cosine), real64)**4
  end function power

  ! The kinetic energy per cell in bands of wave numbers, 1 to 2, 3 to 4, 5 to 8 and so on.
  function spectrum(whole) result(energy)
    real(real64), intent(in) :: whole(:, :, :)
    real(real64) :: energy(bands), high
    real(real64), allocatable :: cosine(:), sine(:)
    integer :: n, k, l, kx, ky, band
    n = size(whole, 1)
    cosine = [(cos(2*pi*k/n), k=0, n - 1)]
    sine = [(sin(2*pi*k/n), k=0, n - 1)]
    energy = 0
    do k = 0, n - 1
      do l = 0, n - 1
        kx = merge(k, k - n, k <= n/2)
        ky = merge(l, l - n, l <= n/2)
        band = 1
        high = 2
        do while (sqrt(real(kx*kx + ky*ky, real64)) > high)
          band = band + 1
          high = 2*high
        end do
        if (band > bands .or. (kx == 0 .and. ky == 0)) cycle
        energy(band) = energy(band) + (power(whole(:, :, 1), k, l, cosine, sine) + &
          power(whole(:, :, 2), k, l, cosine, sine))/2
      end do
    end do
  end function spectrum

  subroutine print_spectrum(flows)
    real(real64), intent(in) :: flows(:, :, :, :) ! truth, bare, in loop
    real(real64) :: energy(bands, 3)
    integer :: n, band, low, high
    do n = 1, 3
      energy(:, n) = spectrum(flows(:, :, :, n))
    end do
    print '(a)', 'kinetic energy    truth      bare   in loop'
    low = 1
    high = 2
    do band = 1, bands
      print '(a, i2, a, i2, *(a))', 'waves ', low, ' to ', high, ('  ', scientific(energy(band, n), 2), n=1, 3)
      low = high + 1
      high = 2*high
    end do
  end subroutine print_spectrum

  ! Prints the errors of the velocity, the steps to a blow-up, and the spectrum.
  subroutine use_models(x)
    type(experiment_t), intent(inout), target :: x
    real(real64), allocatable, target :: q(:, :, :)
    real(real64) :: errors(x%settings%use, models)
    real(real64), allocatable :: flows(:, :, :, :)
    integer :: model
    allocate (flows(x%grid%cells, x%grid%cells, fields, 3))
    call gather(x%grid, x%unseen(:, :, :, x%settings%use), flows(:, :, :, 1))
    do model = 1, models
      call run_model(x, model, q, errors(:, model))
      if (model == bare) call gather(x%grid, q, flows(:, :, :, 2))
      if (model == in_loop) call gather(x%grid, q, flows(:, :, :, 3))
    end do
    if (x%grid%rank == 0) call print_errors(x%settings%use, errors)
    call print_stability(x)
    if (x%grid%rank == 0) call print_spectrum(flows)
  end subroutine use_models
end module water_use
