! SPDX-License-Identifier: BSD-2-Clause
! Vorticities for the solver: the wave of Rossby and Haurwitz, whose exact solution is known, a flow of many waves, the
! truncation of a flow to fewer degrees, and energies by degree. Coefficients (2, degrees, orders, 1, 1) are set and read
! by their order and degree on each process.
module spectral_flow
  use mpi_f08
  use spectral_solver
  use tenon
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: flow_wave, flow_start, flow_energy, flow_create_truncation
  integer, parameter :: wave_degree = 5, wave_order = 4, lowest = 2, highest = 8
  real(real64), parameter :: pi = 3.14159265358979323846_real64
  real(real64), parameter :: solid_body = 0.3_real64 ! rotation of all air, relative to the ground
contains
  ! z <- the wave after some time: a rotation of all air, and one harmonic, which moves unchanged with an angular
  ! velocity that depends on its degree.
  subroutine flow_wave(s, time, z)
    type(solver_t), intent(in) :: s
    real(real64), intent(in) :: time
    type(tenon_dtensor), intent(in) :: z
    real(real64), pointer :: c(:, :, :, :, :)
    real(real64) :: speed, phase
    integer :: place
    speed = solid_body - 2*(rotation + solid_body)/(wave_degree*(wave_degree + 1))
    phase = -wave_order*speed*time
    call tenon_get_array(z, c)
    c = 0
    do place = lbound(c, 3), ubound(c, 3)
      if (s%order(place) == 0) c(1, 1 + 1, place, 1, 1) = 2*solid_body*sqrt(4*pi/3)
      if (s%order(place) == wave_order) c(:, wave_degree + 1, place, 1, 1) = &
        [0.7_real64*cos(phase) + 0.2_real64*sin(phase), 0.7_real64*sin(phase) - 0.2_real64*cos(phase)]
    end do
    call tenon_restore_array(z, c)
  end subroutine flow_wave

  ! z <- waves of low degrees; other ones for another number.
  subroutine flow_start(s, number, z)
    type(solver_t), intent(in) :: s
    integer, intent(in) :: number
    type(tenon_dtensor), intent(in) :: z
    real(real64), pointer :: c(:, :, :, :, :)
    real(real64) :: phase
    integer :: place, l, m
    call tenon_get_array(z, c)
    c = 0
    do place = lbound(c, 3), ubound(c, 3)
      m = s%order(place)
      do l = max(m, lowest), min(highest, s%degrees - 1)
        phase = 1.7_real64*(l*l) + 2.3_real64*m + 3.1_real64*number*(l + m + 1)
        c(1, l + 1, place, 1, 1) = 0.6_real64*cos(phase)
        if (m > 0) c(2, l + 1, place, 1, 1) = 0.6_real64*sin(phase) ! order 0 is real
      end do
    end do
    call tenon_restore_array(z, c)
  end subroutine flow_start

  ! energy(l) <- the kinetic energy of degree l, on all processes: |v|^2 / 2 integrated over the sphere is the sum of
  ! |z|^2 / (2 l (l + 1)), where m > 0 counts for m < 0 too.
  subroutine flow_energy(s, z, energy)
    type(solver_t), intent(in) :: s
    type(tenon_dtensor), intent(in) :: z
    real(real64), intent(out) :: energy(:)
    real(real64), pointer :: c(:, :, :, :, :)
    integer :: place, l
    energy = 0
    call tenon_get_array_read(z, c)
    do place = lbound(c, 3), ubound(c, 3)
      do l = 1, s%degrees - 1
        energy(l) = energy(l) + merge(1, 2, s%order(place) == 0)*sum(c(:, l + 1, place, 1, 1)**2)/(2*l*(l + 1))
      end do
    end do
    call tenon_restore_array_read(z, c)
    call MPI_Allreduce(MPI_IN_PLACE, energy, size(energy), MPI_DOUBLE_PRECISION, MPI_SUM, s%comm)
  end subroutine flow_energy

  ! A layer from the coefficients of a solver to fewer degrees: to the points and back.
  subroutine flow_create_truncation(s, degrees, layer)
    type(solver_t), intent(in) :: s
    integer, intent(in) :: degrees
    type(tenon_layer), intent(out) :: layer
    type(tenon_layer) :: part
    call tenon_layer_create_sequential(s%comm, layer)
    call tenon_layer_create_type(s%comm, 'inversesht', part)
    call tenon_set_integers(part, 'degrees', [s%degrees])
    call tenon_set_integers(part, 'size', [s%columns, s%rows])
    call tenon_layer_sequential_add(layer, part)
    call tenon_destroy(part)
    call tenon_layer_create_type(s%comm, 'sht', part)
    call tenon_set_integers(part, 'degrees', [degrees])
    call tenon_layer_sequential_add(layer, part)
    call tenon_destroy(part)
    call tenon_layer_set_data_type(layer, TENON_FLOAT64)
    call tenon_layer_set_up(layer, s%spectral)
    call tenon_layer_set_training(layer, .false.)
  end subroutine flow_create_truncation
end module spectral_flow
